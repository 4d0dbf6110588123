"""The shells of pages: what stands around the content of each, taken apart once.

MkDocs builds a blank page for each entry of the navigation and one for all other pages (`theme`);
those are filled here, at the cost of joining strings. A blank page that lacks one of the places
below is an error, so that another version of the theme cannot break the site in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field

from dbt_graft.catalog import markup
from dbt_graft.catalog.page import SECTION, Page
from dbt_graft.catalog.shell_files import slim_page
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

# The blank page of all that are not in the navigation. It lies so deep that its links to the root
# of the site cannot be others.
OTHER = "shell/" * 8
TITLE, HEADING, CONTENT = "graft-title", "graft-heading", "graft-content"
# The standard lets them be left out, of which a page has hundreds, and of paragraphs before blocks:
# https://html.spec.whatwg.org/multipage/syntax.html#optional-tags.
_END_TAGS = re.compile(
    r"</p>(?=\s*<(?:p|div|dl|h[1-6]|section|table|ul)\b|</t[dh]>)"
    r"|</(?:td|th|tr|thead|tbody|li|dt|dd)>"
)
# Between tags: not in statements, whose text has none.
_BLANK_LINES = re.compile(r"(?<=>)\n\n+(?=<)")
_PLACE = re.compile("\0([a-z]+)\0")
# Line breaks beside tags: nothing that is shown depends on them.
_BREAK = re.compile(r"(?<=>)[ ]*\n\s*|\s*\n\s*(?=<)")
# The permanent address of a page is that of its folder.
_CANONICAL = re.compile(r'(<link rel="canonical" href="[^"]*/)index\.html(?=")')
_UP = "../" * OTHER.count("/")
# A place, and where it is in a blank page. The address of a page stands only in a site with a URL.
_PLACES = (
    (
        "content",
        re.compile(r"(?<=<article class=\"md-content__inner md-typeset\">).*(?=</article>)", re.S),
    ),
    ("navigation", re.compile(r'(?<=data-md-type="navigation") hidden')),
    ("toc", re.compile(r'(?<=data-md-type="toc") hidden')),
    ("sections", re.compile(rf'<li class="md-nav__item">\s*<a href="#{HEADING}".*?</li>', re.S)),
    ("first", re.compile(rf'(?<=<a href="#){HEADING}(?=" class="md-skip">)')),
    ("title", re.compile(TITLE)),
)


@frozen
class ThemeSettings:
    """The settings of a site that its theme shows.

    Attributes:
        url: The address of the site, escaped; empty if it is not known.
        has_dbt_docs: dbt docs are published beside the catalog.
        has_labels: Columns have classifications, and there is a page of them.
    """

    site_name: str
    url: str = ""
    has_dbt_docs: bool = False
    has_labels: bool = True


@frozen
class Shell:
    """A blank page taken apart at its places.

    Attributes:
        parts: Text and the names of places in turn; text first.
        files: What all pages have alike, by its path in the site.
        section: An entry of the table of contents, with the name of its heading.
    """

    parts: tuple[str, ...]
    section: str
    files: Mapping[str, str] = field(default_factory=dict)

    def fill(self, page: Page, body: str) -> str:
        """The page with its content, as HTML."""
        sections = SECTION.findall(body)
        values = {
            "content": compact(body),
            "title": markup.text(page.title),
            "first": sections[0][0] if sections else "top",
            "sections": "".join(
                self.section.format(id=id_, title=title) for id_, title in sections
            ),
            "root": page.root,
            "base": page.root.rstrip("/") or ".",
            "address": page.path,
        }
        for bar in ("navigation", "toc"):
            values[bar] = "" if sections and bar in page.sidebars else " hidden"
        filled = list(self.parts)
        filled[1::2] = [values[name] for name in self.parts[1::2]]
        return "".join(filled)


@frozen
class Shells:
    """The shells of a site.

    Attributes:
        of_entries: The address of each page in the navigation -> its shell.
        other: That of all other pages.
        notice: A line at the top of each page; empty if there is none.
    """

    of_entries: Mapping[str, Shell]
    other: Shell
    notice: str = ""

    def fill(self, page: Page, body: str) -> str:
        """A page of the site, as HTML."""
        line = f'<p class="graft-notice" role="note">{markup.text(self.notice)}</p>'
        content = line + body if self.notice else body
        return self.of_entries.get(page.path, self.other).fill(page, content)


def shell(html: str, read: Callable[[str], str]) -> Shell:
    """The shell that a blank page makes.

    Args:
        read: The text of a style sheet or script that it names, by its path in the site.

    Raises:
        GraftError: It has not the places that it should have.
    """
    html, files = slim_page(_CANONICAL.sub(r"\1", html), _UP, read)
    html = _BREAK.sub("", html)
    section = html
    for name, pattern in _PLACES:
        match = pattern.search(html)
        if not match:
            raise GraftError(
                f"the theme's page has no place for its {name}",
                place="Material for MkDocs",
                remedy="install the version in constraints.txt",
            )
        if name == "sections":
            section = re.sub(r"</?span[^>]*>", "", match[0])
        html = pattern.sub(f"\0{name}\0", html)
    html = html.replace(OTHER, "\0address\0").replace(_UP, "\0root\0").replace(_UP[:-1], "\0base\0")
    parts = tuple(_PLACE.split(compact(html)))
    return Shell(parts, _template(compact(section)), files)


def _template(html: str) -> str:
    """A piece of the blank page as a template for `str.format`."""
    html = re.sub(r"\s*\n\s*", "", html).replace("{", "{{").replace("}", "}}")
    return html.replace(f"#{HEADING}", "#{id}").replace(HEADING, "{title}")


def compact(html: str) -> str:
    """The same page in fewer bytes; text must be escaped."""
    return _BLANK_LINES.sub("\n", _END_TAGS.sub("", html))
