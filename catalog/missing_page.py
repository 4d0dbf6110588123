"""The page for addresses that do not exist, which a server shows at any depth: 404.html."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import ClassVar
from urllib.parse import urlsplit

import jinja2

from dbt_graft.catalog.page import Page, render
from dbt_graft.catalog.shells import Shells
from dbt_graft.lineage.frozen import frozen

# Links of the page start at the site's root: its URL, if that is known and the browser shows it,
# else the folder of 404.html, or what comes before one of the site's own folders. The page is
# written once the root is known, or a browser would ask for its files beside the address.
_WRITE = r"""<script>
{
  const path = location.pathname, root = ROOT
  const folder = path.match(/^(.*?\/)(?:404\.html$|(?:FOLDERS)(?:\/|$))/)
  const base = document.createElement("base")
  base.href = root && path.startsWith(root) ? root : folder ? folder[1] : path.replace(/[^/]*$/, "")
  document.write(base.outerHTML + PAGE)
}
</script><noscript><h1>Page not found</h1></noscript>"""
_CANONICAL = re.compile(r'<link rel="canonical"[^>]*>')
_FOLDERS = (
    *("attention", "changes", "columns", "datasets", "dbt", "explore", "gaps", "owners"),
    *("platforms", "privacy", "tags", "tasks"),
)


@frozen(kw_only=True)
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
    head, _, rest = _CANONICAL.sub("", html).partition("<head>")
    script = _WRITE.replace("FOLDERS", "|".join(_FOLDERS)).replace("ROOT", _quote(root))
    return f'{head}<head><meta charset="utf-8">{script.replace("PAGE", _quote(rest))}'.encode()


def _quote(content: str) -> str:
    """A text as JavaScript, in which no tag ends or begins."""
    return json.dumps(content).replace("<", "\\u003c")
