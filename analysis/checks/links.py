"""Links to pages of the site, compared with the addresses that were ever published."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from urllib.parse import SplitResult, unquote, urlsplit

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.render.json import iso
from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.rule import LINK_GONE, LINK_MISSING, LINK_MOVED
from dbt_graft.lineage.addresses import Address, present_path
from dbt_graft.lineage.frozen import frozen

# A link ends before what no address has: marks of Markdown and HTML, brackets as in AsciiDoc's
# `url[text]`, the punctuation of any language, and quotes as HTML writes them.
_END = (
    r"\s<>\"'`\\|\[\]«»‹›\u2010-\u2027\u3000-\u303f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_LINK = re.compile(
    rf"https?://(?:\[[\da-f:.]+\])?(?:(?!&(?:quot|apos|lt|gt|nbsp|#x?[\da-f]+);)[^{_END}])+",
    re.IGNORECASE,
)
# As Markdown and JSON write `_` and `/`.
_ESCAPED = re.compile(r"\\([/_.~*-])")
# Part of an address that a template fills in: `{{ task }}`, `${TASK}`, `%s`.
_FILLED_IN = re.compile(r"[{}]|\$\w|%s")
_BEHIND = ".,;:!?*_"
# Folders of the site with nothing but pages, and what else lies beside a page.
_PAGES = ("datasets/", "tasks/", "tags/", "owners/", "platforms/")
_PAGE_FILES = ("index.json",)
_PORTS = {"http": 80, "https": 443}
_BRACKETS = {")": "(", "]": "[", "}": "{"}


class LinkState(StrEnum):
    """State of a link: what it leads to."""

    OK = "ok"
    MOVED = "moved"
    GONE = "gone"
    MISSING = "missing"
    OTHER = "other"


_WORDS = {
    LinkState.OK: "lead to a page",
    LinkState.MOVED: "lead to a page that has moved",
    LinkState.GONE: "lead to something that is gone",
    LinkState.MISSING: "were never an address of the site",
    LinkState.OTHER: "lead to other files, or are filled in by a template: not checked",
}


@frozen
class Link:
    """A link in a text, with the line that it is on."""

    url: str
    place: str
    line: int


@frozen
class CheckedLink:
    """A link to the site.

    Attributes:
        target: The present address of a page that has moved.
        gone_at: When the page was first found to be gone.
    """

    url: str
    place: str
    line: int
    state: LinkState
    target: str = ""
    gone_at: datetime | None = None


def link_lines(text: str, place: str) -> Iterator[Link]:
    """The links in a text: Markdown, HTML or any other."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in _LINK.finditer(_ESCAPED.sub(r"\1", line)):
            yield Link(_without_punctuation(match[0]), place, number)


def _without_punctuation(url: str) -> str:
    """A URL without what ends its sentence or closes a bracket around it."""
    while url:
        opening = _BRACKETS.get(url[-1])
        closes = opening is not None and url.count(opening) < url.count(url[-1])
        if url[-1] not in _BEHIND and not closes:
            break
        url = url[:-1]
    return url


def is_site_url(url: str, sites: Iterable[str]) -> bool:
    """Whether a URL is one of the site or below it."""
    return any(_below(url, site) is not None for site in sites)


def checked_links(
    links: Iterable[Link], sites: Sequence[str], addresses: Iterable[Address]
) -> Iterator[CheckedLink]:
    """The links that lead to the site, each with its state."""
    by_path = {address.path: address for address in addresses}
    for link in links:
        for site in sites:
            below = _below(link.url, site)
            if below is not None:
                yield _check_link(link, below, site, by_path)
                break


def _check_link(link: Link, below: str, site: str, by_path: dict[str, Address]) -> CheckedLink:
    folder, _, file = below.rpartition("/")
    path = below if not file else f"{folder}/".lstrip("/") if file == "index.html" else f"{below}/"
    address = by_path.get(path)
    fields = (link.url, link.place, link.line)
    if address is None:
        # Names of tables and files have points, and pages are folders.
        is_page = file in ("", "index.html") or (
            below.startswith(_PAGES) and file not in _PAGE_FILES
        )
        is_file = "." in file and not is_page
        is_other = path == "dbt/" or is_file or _FILLED_IN.search(below) is not None
        return CheckedLink(*fields, LinkState.OTHER if is_other else LinkState.MISSING)
    if not address.is_gone:
        return CheckedLink(*fields, LinkState.OK)
    target = present_path(address, by_path)
    if target:
        return CheckedLink(*fields, LinkState.MOVED, f"{site.rstrip('/')}/{target}")
    return CheckedLink(*fields, LinkState.GONE, gone_at=address.gone_at)


def _below(url: str, site: str) -> str | None:
    """The path of a URL below that of a site; None if it is elsewhere."""
    try:
        link, top = urlsplit(url), urlsplit(site)
        is_there = _server(link) == _server(top)
    except ValueError:
        return None
    root = f"{top.path.rstrip('/')}/"
    path = _without_dots(link.path)
    if not is_there or not f"{path}/".startswith(root):
        return None
    return unquote(path)[len(root) :]


def _without_dots(path: str) -> str:
    """A path as a browser asks for it, `.` and `..` walked; an empty folder stays one of its own.

    https://url.spec.whatwg.org/#path-state
    """
    walked: list[str] = []
    segments = path[1:].split("/")
    for at, segment in enumerate(segments, 1):
        dots = segment.casefold().replace("%2e", ".")
        if dots == "..":
            del walked[-1:]
        if dots not in (".", ".."):
            walked.append(segment)
        elif at == len(segments):
            walked.append("")
    return f"/{'/'.join(walked)}"


def _server(url: SplitResult) -> tuple[str, int | None]:
    """Host and port, with a user if there is one; `http` and `https` of a site are one."""
    port = url.port
    host = url.netloc.casefold().removesuffix(f":{port}")
    return host, None if port == _PORTS.get(url.scheme) else port


def links_answer(links: Sequence[CheckedLink]) -> Answer:
    """The number of links by what they lead to, with a finding for each that leads to no page."""
    counts = Counter(link.state for link in links)
    return Answer(
        "links to the site",
        count(len(links), "link"),
        {words: counts[state] for state, words in _WORDS.items() if counts[state]},
        findings=[finding for link in links for finding in _link_findings(link)],
        data={
            "links": [
                {
                    "url": link.url,
                    "file": link.place or None,
                    "line": link.line if link.place else None,
                    "state": link.state.value,
                    "moved_to": link.target or None,
                    "gone_since": iso(link.gone_at),
                }
                for link in links
            ]
        },
    )


def _link_findings(link: CheckedLink) -> Iterator[Finding]:
    place = f"{link.place}:{link.line}" if link.place else ""
    match link.state:
        case LinkState.MOVED:
            problem, remedy = f"has moved to {link.target}", "write the new address"
            yield LINK_MOVED.finding(link.url, problem, remedy, place=place)
        case LinkState.GONE:
            since = f" since {link.gone_at:%Y-%m-%d}" if link.gone_at else ""
            yield LINK_GONE.finding(link.url, f"is gone{since}", "take it out", place=place)
        case LinkState.MISSING:
            problem, remedy = "is not a page of the site", "correct it: it may be misspelt"
            yield LINK_MISSING.finding(link.url, problem, remedy, place=place)
