"""Escaping of text from logs and artifacts for pages that are Markdown with HTML blocks.

A value passes two parsers, so characters that either could read as syntax become character
references, which mean the same in HTML text, in attributes and in Markdown.
"""

from __future__ import annotations

import functools
import html
import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

from markdown import Markdown  # type: ignore[import-untyped]
from markupsafe import Markup

# What HTML reads as syntax, and what Markdown does even inside an HTML block (code fences) or
# in a heading; line breaks, so that a value never begins a line.
_REFERENCES = str.maketrans({char: f"&#{ord(char)};" for char in "&<>\"'`~*[]{}|\\\n\t"})
_INERT = str.maketrans({char: f"&#{ord(char)};" for char in "`~*[]{}|\\\n\t"})
# Control characters and lone surrogates, which YAML cannot hold, and characters that change the
# direction of writing, which make one name look like another.
_UNPRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]"
)

_TAGS = frozenset(
    {"p", "br", "hr", "em", "strong", "del", "code", "pre", "ul", "ol", "li", "blockquote", "a"}
    | {"table", "thead", "tbody", "tr", "th", "td"}
)
_VOID = frozenset({"br", "hr"})
_HEADING = re.compile(r"h[1-6]")
# One line of plain words, as most column descriptions are, needs no Markdown parser.
_PLAIN = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:()'%/-])*")


def text(value: object) -> Markup:
    """A value as text for any place of a template; `Markup` passes, None is empty."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return Markup()
    return Markup(printable(str(value)).translate(_REFERENCES))  # noqa: S704  # escaped here


def printable(value: str) -> str:
    """The value with unprintable characters replaced and line breaks normalised."""
    return _UNPRINTABLE.sub("\ufffd", value.replace("\r\n", "\n").replace("\r", "\n"))


def external(url: str) -> str:
    """The URL if it is `http`, `https` or `mailto`, else an empty string."""
    url = printable(url).strip()
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme in ("http", "https"):
        return url if parts.netloc else ""
    return url if parts.scheme == "mailto" else ""


def prose(markdown: str, dbt_docs: str = "") -> Markup:
    """Markdown, as in dbt's descriptions, as HTML with text, lists, tables and links only.

    Raw HTML is shown as text and images become links. Links lead to the web or, if they begin with
    `#!/`, into the dbt docs page.

    Args:
        dbt_docs: The relative path to the dbt docs page; without it links into it become text.
    """
    if not markdown.strip():
        return Markup()
    if _PLAIN.fullmatch(markdown):
        return Markup("<p>{}</p>").format(markdown)
    filtered = _Filter(dbt_docs)
    filtered.feed(_parser().reset().convert(printable(markdown)))
    filtered.close()
    return Markup("".join(filtered.out).translate(_INERT))  # noqa: S704  # built from a list of tags


@functools.cache
def _parser() -> Markdown:
    parser = Markdown(extensions=["tables", "fenced_code", "sane_lists"])
    parser.preprocessors.deregister("html_block")
    parser.inlinePatterns.deregister("html")
    return parser


class _Filter(HTMLParser):
    """Rewrites HTML with known tags only; other tags are dropped."""

    def __init__(self, dbt_docs: str) -> None:
        super().__init__(convert_charrefs=True)
        self._dbt_docs = dbt_docs
        self._links: list[bool] = []
        self.out: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {key: value or "" for key, value in attrs}
        if tag == "a":
            self._link(attributes.get("href", ""))
        elif tag == "img":
            self._link(attributes.get("src", ""))
            self.out.append(html.escape(attributes.get("alt") or "picture"))
            self.handle_endtag("a")
        elif _HEADING.fullmatch(tag):
            self.out.append('<p class="graft-heading">')
        elif tag in _TAGS:
            self.out.append(f"<{tag}>")

    def _link(self, url: str) -> None:
        in_dbt_docs = self._dbt_docs and url.startswith("#!/")
        target = self._dbt_docs + url if in_dbt_docs else external(url)
        self._links.append(bool(target))
        if target:
            self.out.append(f'<a href="{html.escape(target)}" rel="noopener">')

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            if self._links and self._links.pop():
                self.out.append("</a>")
        elif _HEADING.fullmatch(tag):
            self.out.append("</p>")
        elif tag in _TAGS - _VOID:
            self.out.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.out.append(html.escape(data))
