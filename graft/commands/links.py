"""The command `graft links`: links of runbooks into the site, tested without the site."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import click
import orjson
from requests import RequestException, get

from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors import store
from dbt_graft.graft.commands.command import CommandGroup, config_option, load_config
from dbt_graft.graft.questions.checks.link_check import (
    CheckedLink,
    LinkState,
    check_links,
    is_site_url,
    link_lines,
)
from dbt_graft.lineage.errors import GraftError

# Bytes of a page or file that is looked through.
_LONGEST = 1 << 24
_SILENCE = 30.0  # seconds without an answer
_WORDS = {
    LinkState.OK: "lead to a page",
    LinkState.MOVED: "lead to a page that has moved",
    LinkState.GONE: "lead to something that is gone",
    LinkState.MISSING: "were never an address of the site",
    LinkState.OTHER: "lead to other files of the site and are not checked",
}


@click.group(cls=CommandGroup, epilog="\b\nExample: graft links check docs/runbooks/")
def links() -> None:
    """Test links to pages of the site."""


@links.command(
    epilog="\b\nExamples:\n  graft links check docs/runbooks/\n"
    "  graft links check --site https://data.example.com/lineage/ https://wiki.example.com/oncall"
)
@click.argument("sources", metavar="FILE|FOLDER|URL...", nargs=-1, required=True)
@click.option(
    "--site",
    "sites",
    multiple=True,
    metavar="URL",
    help="An address of the published site.  [default: site.url in graft.yml]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@config_option
def check(
    sources: Sequence[str], sites: Sequence[str], config_path: Path | None, *, as_json: bool
) -> None:
    """Test the links in runbooks, wikis and code that lead to pages of the site.

    Every address that was ever published is in the lineage store. A URL below the site is tested
    itself; another one is fetched, and the links in it are tested. Exits with 1 if a link leads to
    something that is gone, or to no page at all; one that has moved still leads there.
    """
    config = load_config(config_path)
    sites = tuple(filter(None, sites or (config.site.url,)))
    if not sites:
        raise GraftError(
            "the address of the site is not known",
            place="graft.yml: `site.url`",
            remedy="set it, or pass --site https://…",
        )
    addresses = store.addresses(config.path(config.store))
    if not addresses:
        raise GraftError(
            "no page was published yet",
            place=config.path(config.store),
            remedy="run `graft build` first",
        )
    checked_links = [
        link
        for place, text in _texts(sources, sites)
        for link in check_links(link_lines(text, place), sites, addresses)
    ]
    if as_json:
        rows = [link.to_json() for link in checked_links]
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
    else:
        click.echo("\n".join(map(one_line, _report(checked_links))))
    sys.exit(any(link.state in (LinkState.GONE, LinkState.MISSING) for link in checked_links))


def _texts(sources: Sequence[str], sites: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The name and the text of each source."""
    for source in sources:
        if "://" not in source:
            yield from _files(Path(source))
        elif is_site_url(source, sites):
            yield "", source
        else:
            yield _without_secrets(source), _fetch(source)


def _files(path: Path) -> Iterator[tuple[str, str]]:
    try:
        if not path.exists():
            raise GraftError("there is no such file", place=str(path))
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
            if file.is_file() and not hidden and file.stat().st_size <= _LONGEST:
                content = file.read_bytes()
                if b"\0" not in content:  # else it is no text
                    yield str(file), content.decode("utf-8", "replace")
    except OSError as error:
        raise GraftError(f"cannot be read: {error.strerror}", place=str(path)) from error


def _fetch(url: str) -> str:
    try:
        with get(url, timeout=_SILENCE, stream=True) as answer:
            answer.raise_for_status()
            content = b"".join(islice(answer.iter_content(1 << 16), _LONGEST >> 16))
    except (RequestException, ValueError) as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        problem = f"answers with {status}" if status else "cannot be fetched"
        raise GraftError(problem, place=_without_secrets(url)) from error
    return content.decode(answer.encoding or "utf-8", "replace")


def _without_secrets(url: str) -> str:
    """A URL without its user, password and query, for messages."""
    scheme, mark, rest = url.partition("://")
    authority, slash, path = re.split("[?#]", rest)[0].partition("/")
    return f"{scheme}{mark}{authority.rpartition('@')[2]}{slash}{path}"


def _report(checked_links: Sequence[CheckedLink]) -> Iterator[str]:
    for link in checked_links:
        place = f"{link.place}:{link.line}: " if link.place else ""
        if link.state is LinkState.MOVED:
            yield f"{place}{link.url} has moved to {link.target}"
        elif link.state is LinkState.GONE:
            since = f" since {link.gone_at:%Y-%m-%d}" if link.gone_at else ""
            yield f"{place}{link.url} is gone{since}"
        elif link.state is LinkState.MISSING:
            yield f"{place}{link.url} is no page of the site"
    counts = Counter(link.state for link in checked_links)
    yield f"{len(checked_links):,} link{'' if len(checked_links) == 1 else 's'} to the site"
    for state, words in _WORDS.items():
        if counts[state]:
            yield f"  {counts[state]:,} {words}"
