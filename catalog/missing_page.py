"""The page for addresses that do not exist, which a server shows at any depth: 404.html."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar
from urllib.parse import urlsplit

import jinja2

from dbt_graft.catalog.markup import text
from dbt_graft.catalog.page import Page, render
from dbt_graft.catalog.theme import Shells

# Links of the page start at the site's root. Where the site's URL is not known, that is the folder
# of 404.html, or what comes before one of the site's own folders.
_ROOT = r"""<script>
{
  const path = location.pathname
  const folder = path.match(/^(.*?\/)(?:404\.html$|(?:FOLDERS)(?:\/|$))/)
  const known = document.querySelector("base"), root = known?.getAttribute("href")
  const base = known ?? document.head.appendChild(document.createElement("base"))
  base.href = root && path.startsWith(root) ? root : folder ? folder[1] : path.replace(/[^/]*$/, "")
}
</script>"""
_FOLDERS = (
    *("attention", "changes", "columns", "datasets", "dbt", "explore", "gaps", "owners"),
    *("platforms", "privacy", "tags", "tasks"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPage(Page):
    """The context of `404.html.j2`."""

    template: ClassVar[str] = "404"


def missing_page(shells: Shells, jinja: jinja2.Environment, url: str) -> bytes:
    """The page as HTML.

    Args:
        url: The address of the site; empty if it is not known.
    """
    page = MissingPage(path="", title="Page not found")
    html = replace(shells, of_entries={}).fill(page, render(page, jinja))
    root = urlsplit(url).path.rstrip("/") + "/" if url else ""
    base = f'<base href="{text(root)}">' if root else ""
    script = _ROOT.replace("FOLDERS", "|".join(_FOLDERS))
    return html.replace("<head>", f"<head>{base}{script}", 1).encode()
