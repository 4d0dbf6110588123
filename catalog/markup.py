"""Escaping of text from logs and artifacts for pages of HTML."""

from __future__ import annotations

import functools
import html
import re
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

import nh3
from markdown import Markdown  # type: ignore[import-untyped]
from markdown.treeprocessors import Treeprocessor  # type: ignore[import-untyped]
from markdown.util import AMP_SUBSTITUTE, AtomicString  # type: ignore[import-untyped]
from markupsafe import Markup

from dbt_graft.catalog.dbt_docs import DbtDocs

_REFERENCES = str.maketrans({char: f"&#{ord(char)};" for char in "&<>\"'"})
# Control characters and lone surrogates, which HTML cannot hold, and characters that change the
# direction of writing, which make one name look like another.
_UNPRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]"
)


# Where a long name may be broken; the references of escaped text have none of these.
_JOINT = re.compile(r"[._/](?=\w)")

_TAGS = {
    *("p", "br", "hr", "em", "strong", "del", "code", "pre", "ul", "ol", "li", "blockquote", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_HEADING = re.compile(r"h[1-6]")
# One line of plain words, as most column descriptions are, needs no Markdown parser.
_PLAIN = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:()'%/-])*")
# So does one that names tables and columns as code.
_CODE = re.compile(r"`([\w.]+)`")
_WITH_CODE = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:()'%/-]|(?<!`)`[\w.]+`(?!`))*(?<! )", re.ASCII)


def text(value: object) -> Markup:
    """A value as text for any place of a template; `Markup` passes, None is empty."""
    if isinstance(value, Markup):
        return value
    return Markup() if value is None else _escape(str(value))


@functools.lru_cache(maxsize=1 << 16)  # a site shows the same names again and again
def _escape(value: str) -> Markup:
    return Markup(visible_name(value).translate(_REFERENCES))  # noqa: S704  # escaped here


def breakable(value: object) -> Markup:
    """A name as text that may go on in the next line after a dot, a slash or an underscore.

    For names that stand alone: in a cell of a table they would be broken for no need.
    """
    return Markup(_JOINT.sub(r"\g<0><wbr>", str(text(value))))  # noqa: S704  # escaped there


def visible_name(value: str) -> str:
    """A printable name, or words for one of blanks alone: a link needs something to be seen."""
    return "(blank)" if value.isspace() else printable(value)


def printable(value: str) -> str:
    """The value with unprintable characters replaced and line breaks normalised."""
    return _UNPRINTABLE.sub("\ufffd", value.replace("\r\n", "\n").replace("\r", "\n"))


def with_code(words: str) -> Markup:
    """Words of ours in HTML: what is between backticks is code."""
    parts = printable(words).translate(_REFERENCES).split("`")
    if len(parts) % 2 == 0:
        return text(words)
    html = (f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))
    return Markup("".join(html))  # noqa: S704  # escaped here


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


@functools.lru_cache(maxsize=1 << 12)  # models pass the texts of their columns on
def prose(markdown: str, root: str = "", dbt_docs: DbtDocs | None = None) -> Markup:
    """Markdown, as in dbt's descriptions, as HTML with text, lists, tables and links only.

    Raw HTML is shown as text and images become links. Links lead to the web or, if they begin with
    `#!/` or `#/`, into the dbt docs page.

    Args:
        root: The relative path to the site's root.
        dbt_docs: The dbt docs page; without it links into it become text.
    """
    if not markdown.strip():
        return Markup()
    if _PLAIN.fullmatch(markdown):
        return Markup("<p>{}</p>").format(markdown)
    if _WITH_CODE.fullmatch(markdown):
        html = _CODE.sub(r"<code>\1</code>", markdown)
        return Markup(f"<p>{html}</p>")  # noqa: S704  # no other character has a meaning
    parser = _parser()
    parser.treeprocessors["links"].place = root, dbt_docs
    cleaned = nh3.clean(
        parser.reset().convert(printable(markdown)),
        tags=_TAGS,
        attributes={"a": {"href"}},
        allowed_classes={"p": {"graft-heading"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener",
    )
    return Markup(cleaned)  # noqa: S704  # cleaned


@functools.cache
def _parser() -> Markdown:
    parser = Markdown(extensions=["tables", "fenced_code", "sane_lists"])
    parser.preprocessors.deregister("html_block")
    parser.inlinePatterns.deregister("html")
    parser.treeprocessors.register(DescriptionLinks(parser), "links", 1)
    return parser


class DescriptionLinks(Treeprocessor):  # type: ignore[misc]
    """Links that lead to the web or into dbt docs; others become text, and pictures links.

    Attributes:
        place: The relative path to the site's root, and the dbt docs page there.
    """

    place: tuple[str, DbtDocs | None] = ("", None)

    def run(self, root: Element) -> None:
        """Change a document in place."""
        for element in root.iter():
            if element.tag == "img":
                element.text = AtomicString(element.get("alt") or "picture")
                self._link(element, element.get("src", ""))
            elif element.tag == "a":
                self._link(element, element.get("href", ""))
            elif _HEADING.fullmatch(element.tag):
                element.tag = "p"
                element.set("class", "graft-heading")

    def _link(self, element: Element, url: str) -> None:
        # Addresses of e-mails arrive as character references.
        url = html.unescape(url.replace(AMP_SUBSTITUTE, "&"))
        root, dbt_docs = self.place
        inside = dbt_docs.translate(url) if dbt_docs else ""
        target = root + inside if inside else external(url)
        element.tag = "a" if target else "span"
        element.attrib.clear()
        if target:
            element.set("href", target)
