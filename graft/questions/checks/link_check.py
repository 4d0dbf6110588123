"""Links to pages of the site, compared with the addresses that were ever published."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import unquote, urlsplit

from dbt_graft.lineage.addresses import Address, present_path

_LINK = re.compile(r"https?://[^\s<>\"'`\\|]+", re.IGNORECASE)
_BEHIND = ".,;:!?*_"
_BRACKETS = {")": "(", "]": "[", "}": "{"}


class LinkState(StrEnum):
    """State of a link: what it leads to."""

    OK = "ok"
    MOVED = "moved"
    GONE = "gone"
    MISSING = "missing"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a text, with the line that it is on."""

    url: str
    place: str
    line: int


@dataclass(frozen=True, slots=True)
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

    def to_json(self) -> dict[str, Any]:
        """The link as JSON."""
        return {
            "url": self.url,
            "file": self.place or None,
            "line": self.line if self.place else None,
            "state": self.state,
            "moved_to": self.target or None,
            "gone_since": self.gone_at,
        }


def link_lines(text: str, place: str) -> Iterator[Link]:
    """The links in a text: Markdown, HTML or any other."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in _LINK.finditer(line):
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


def check_links(
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
        is_file = "." in file and file != "index.html"
        is_other = is_file or path == "dbt/"
        return CheckedLink(*fields, LinkState.OTHER if is_other else LinkState.MISSING)
    if not address.is_gone:
        return CheckedLink(*fields, LinkState.OK)
    target = present_path(address, by_path)
    if target:
        return CheckedLink(*fields, LinkState.MOVED, f"{site.rstrip('/')}/{target}index.html")
    return CheckedLink(*fields, LinkState.GONE, gone_at=address.gone_at)


def _below(url: str, site: str) -> str | None:
    """The path of a URL below that of a site; None if it is elsewhere."""
    try:
        link, top = urlsplit(url), urlsplit(site)
    except ValueError:
        return None
    root = f"{top.path.rstrip('/')}/"
    path = link.path or "/"
    if link.netloc.casefold() != top.netloc.casefold() or not f"{path}/".startswith(root):
        return None
    return unquote(path)[len(root) :]
