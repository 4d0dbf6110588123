"""The text and tags of a page, for tests of what it shows."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class HtmlReader(HTMLParser):
    """Text, scripts, data and tags of HTML, apart from each other: no browser runs data."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.scripts = self.data = ""
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {key: value or "" for key, value in attrs}))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script" and self.tags[-1][1].get("type") == "application/json":
            self.data += data
        elif self.cdata_elem == "script":
            self.scripts += data
        else:
            self.text += data


def article(html: str) -> str:
    """The HTML of a page's article."""
    return html[html.index("<article") : html.index("</article>")]


def text(html: str) -> str:
    """The text of a page's article on one line."""
    return " ".join(HtmlReader(article(html)).text.split())


def section(html: str, heading: str) -> str:
    """The text below a heading on one line."""
    parts = re.split(r"<h2[^>]*>([^<]*)", article(html))
    return " ".join(HtmlReader(parts[parts.index(heading) + 1]).text.split())
