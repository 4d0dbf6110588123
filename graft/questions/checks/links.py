"""The check `links`: links of runbooks, wikis and code into the site, tested without the site."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.checks.links import checked_links, is_site_url, link_lines, links_answer
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, NothingToCheckError
from dbt_graft.lineage.errors import GraftError

# Bytes of a page or file that is looked through.
_LONGEST = 1 << 24
_SILENCE = 30.0  # seconds without an answer


def check_links(checked: CheckedProject) -> Answer:
    """The links that lead to the site, held against each address that was ever published.

    A URL below the site is tested itself; another one is fetched, and the links in it are tested.

    Raises:
        NothingToCheckError: Nobody names anything with links.
        GraftError: The site has no address or no pages, or a file or URL cannot be read.
    """
    config, sources = checked.config, checked.options.links
    if not sources:
        raise NothingToCheckError(
            "nothing with links is named", remedy="name files, folders or URLs with --links"
        )
    sites = tuple(filter(None, checked.options.sites or (config.site.url,)))
    if not sites:
        raise GraftError(
            "the address of the site is not known",
            place="graft.yml: `site.url`",
            remedy="set it, or pass --site https://…",
        )
    # Importing it takes longer than the other checks, and mostly nobody asks.
    from dbt_graft.collectors.store.addresses import addresses as read_addresses

    addresses = read_addresses(config.path(config.store))
    if not addresses:
        raise GraftError(
            "no page was published yet",
            place=config.path(config.store),
            remedy="run `graft build` first",
        )
    return links_answer(
        [
            link
            for place, text in _texts(sources, sites)
            for link in checked_links(link_lines(text, place), sites, addresses)
        ]
    )


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
    from requests import RequestException, get  # few name a URL, and importing it takes long

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
