"""Icons and scripts of the shell: one file for all pages, not text in each of them.

What a page shows stays the same. An icon is drawn by a style sheet, as a mask in the colour of the
text; a script runs at its place as before. What works with a script only is put there by one.
"""

from __future__ import annotations

import hashlib
import json
import re
from urllib.parse import quote

_SVG = re.compile(r"<svg xmlns=[^>]*>.*?</svg>", re.DOTALL)
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_NEXT_SCRIPT = re.compile(r"</script>\s*<script>")
# Without script the choice of a palette and the search do nothing.
_NEEDS_SCRIPT = re.compile(
    r'<form class="md-header__option" data-md-component="palette">.*?</form>'
    r'|<div class="md-search" .*?(?=</nav>\s*</header>)',
    re.DOTALL,
)
_CONFIG = re.compile(r'(<script id="__config" type="application/json">)(.*?)(</script>)', re.DOTALL)
_STYLES, _SCRIPTS = "assets/stylesheets/", "assets/javascripts/"
# The theme reads its settings once: those that all pages share are put in before.
_SETTINGS = """{{
const element = document.getElementById("__config"), own = JSON.parse(element.textContent)
const shared = JSON.parse({shared}.replaceAll({up}, own.base + "/"))
element.textContent = JSON.stringify({{ ...shared, ...own }})
}}
"""


def slimmed(html: str, up: str) -> tuple[str, dict[str, str]]:
    """A page of the theme without what all pages have alike, and that as files by their path.

    Args:
        up: The relative path from the page to the site's root.
    """
    files: dict[str, str] = {}

    def element(script: str) -> str:
        path = f"{_SCRIPTS}shell.{_digest(script)}.js"
        files[path] = script
        return f'<script src="{up}{path}"></script>'

    def moved(match: re.Match[str]) -> str:
        # The file lies two folders below the root, from which the theme counts.
        place = f'new URL("{up[:-1]}",location)'
        return element(match[1].replace(place, 'new URL("../..",document.currentScript.src)'))

    def settings(match: re.Match[str]) -> str:
        shared = json.loads(match[2])
        base = shared.pop("base")
        script = _SETTINGS.format(shared=json.dumps(json.dumps(shared)), up=json.dumps(up))
        own = json.dumps({"base": base})
        return f"{match[1]}{own}{match[3]}{element(script)}"

    icons: dict[str, str] = {}

    def icon(match: re.Match[str]) -> str:
        name = icons.setdefault(match[0], f"graft-icon-{len(icons)}")
        return f'<svg class="{name}"></svg>'

    def put(match: re.Match[str]) -> str:
        content = re.sub(r"\s*\n\s*", "", match[0])
        return f"<script>document.currentScript.outerHTML = {json.dumps(content)}</script>"

    html = _NEEDS_SCRIPT.sub(put, _SVG.sub(icon, html))
    html = _SCRIPT.sub(moved, _NEXT_SCRIPT.sub("\n", html))
    html = _CONFIG.sub(settings, html)
    if icons:
        styles = "".join(map(_style, icons, icons.values()))
        path = f"{_STYLES}shell.{_digest(styles)}.css"
        files[path] = styles
        html = html.replace("</head>", f'<link rel="stylesheet" href="{up}{path}"></head>', 1)
    return html, files


def _style(svg: str, name: str) -> str:
    url = f'url("data:image/svg+xml,{quote(svg, safe=" =:/")}")'
    mask = f"{url} center / contain no-repeat"
    return f".{name} {{ background: currentcolor; -webkit-mask: {mask}; mask: {mask}; }}\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
