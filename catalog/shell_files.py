"""Icons, styles and scripts of the shell: one file for all pages, not text in each of them.

What a page shows stays the same. An icon is drawn by a style sheet, as a mask in the colour of the
text; a script runs at its place as before. What works with a script only is put there by one, and
so is the menu of a phone: without script the tabs stay.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from urllib.parse import quote

_SVG = re.compile(r"<svg xmlns=[^>]*>.*?</svg>", re.DOTALL)
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_NEXT_SCRIPT = re.compile(r"</script>\s*<script>")
# What opens the search, which is our own, at the end of the header.
_SEARCH = (
    '<button type="button" class="graft-open-search" data-graft-search'
    ' aria-label="Search" aria-keyshortcuts="Control+K Meta+K /">'
    "<span>Search</span><kbd>Ctrl K</kbd></button>"
)
_HEADER_END = re.compile(r"(?=</nav>\s*</header>)")
# Without script the choice of a palette and the search do nothing.
_NEEDS_SCRIPT = re.compile(
    r'<form class="md-header__option" data-md-component="palette">.*?</form>'
    r'|<div class="md-search" .*?(?=<button type="button" class="graft-open-search")'
    r'|<button type="button" class="graft-open-search".*?</button>'
    r'|(?<=<div class="md-sidebar__inner">)\s*<nav class="md-nav md-nav--primary.*?</nav>'
    r"(?=\s*</div>)",
    re.DOTALL,
)
# What the theme's script fills or shows, with the element beside or in which it is put, and how.
# The drawer of a phone slides over what comes after its switch.
_LATER = (
    (r'<button [^>]*data-md-component="top".*?</button>', "main", "beforeend"),
    (r'<div class="md-dialog".*?</div>\s*</div>', "body", "beforeend"),
    (r'<input [^>]*data-md-toggle="search"[^>]*>', "body", "beforeend"),
    (r'<div data-md-component="announce">\s*</div>', "body", "beforeend"),
    (r'<label class="md-overlay".*?</label>', "body", "afterbegin"),
    (r'<input [^>]*data-md-toggle="drawer"[^>]*>', "body", "afterbegin"),
    (
        r'<label class="md-header__button md-icon" for="__drawer">.*?</label>',
        ".md-logo",
        "afterend",
    ),
)
# The title of the page, which the theme shows in the header when the page is scrolled.
_TITLE = """document.querySelector(".md-header__ellipsis").insertAdjacentHTML("beforeend",
  '<div class="md-header__topic" data-md-component="header-topic">' +
  '<span class="md-ellipsis"></span></div>')
document.querySelector("[data-md-component=header-topic] span").textContent =
  document.querySelector("h1")?.textContent ?? ""
"""
# What says nothing to a browser, or the same again, or is put there by script.
_NEEDLESS = re.compile(
    r'<meta name="generator"[^>]*>|(?<=") title="[^"]*"(?= class="md-header__button)'
    r'| data-md-component="(?:logo|skip)"'
    r'|<div class="md-header__topic" [^>]*>(?s:.*?)</div>'
    # Content in tabs, of which a catalog has none.
    r'|<script>var target=[^<]*"__tabbed_"[^<]*</script>'
)
# In the menu of a phone this title leads back.
_TOC_TITLE = re.compile(
    r'(?<=<label class="md-nav__title") for="__toc">\s*<span class="md-nav__icon md-icon"></span>'
)
_SHEET = re.compile(r'<link rel="stylesheet" href="(?:\.\./|\./)*([^":]*)">\s*')
_OWN_SCRIPT = re.compile(r'<script src="(?:\.\./|\./)*(scripts/[^":]*)"></script>\s*')
_COMMENT = re.compile(r"/\*#.*?\*/|^//[#@].*$", re.DOTALL | re.MULTILINE)
_CONFIG = re.compile(r'(<script id="__config" type="application/json">)(.*?)(</script>)', re.DOTALL)
_SCRIPTS = "assets/javascripts/"
# Beside the files that they are made of, whose links to other files they hold.
_SITE_STYLES, _SITE_SCRIPTS = "styles/", "scripts/"
# The theme reads its settings once: those that all pages share are put in before.
_SETTINGS = """{{
const element = document.getElementById("__config"), own = JSON.parse(element.textContent)
const shared = JSON.parse({shared}.replaceAll({up}, own.base + "/"))
element.textContent = JSON.stringify({{ ...shared, ...own }})
}}
"""


def slim_page(html: str, up: str, read: Callable[[str], str]) -> tuple[str, dict[str, str]]:
    """A page of the theme without what all pages have alike, and that as files by their path.

    Args:
        up: The relative path from the page to the site's root.
        read: The text of a style sheet or script, by its path in the site.
    """
    files: dict[str, str] = {}

    def element(script: str) -> str:
        path = f"{_SCRIPTS}shell.{_digest(script)}.js"
        files[path] = script
        return f'<script src="{up}{path}"></script>'

    def move_script(match: re.Match[str]) -> str:
        # The file lies two folders below the root, from which the theme counts.
        base = f'new URL("{up[:-1]}",location)'
        return element(match[1].replace(base, 'new URL("../..",document.currentScript.src)'))

    later: list[str] = []

    def settings(match: re.Match[str]) -> str:
        shared = json.loads(match[2])
        base = shared.pop("base")
        script = _SETTINGS.format(shared=json.dumps(json.dumps(shared)), up=json.dumps(up))
        config = json.dumps({"base": base})
        return f"{match[1]}{config}{match[3]}{element(script + ''.join(later))}"

    icons: dict[str, str] = {}

    def icon(match: re.Match[str]) -> str:
        name = icons.setdefault(match[0], f"graft-icon-{len(icons)}")
        return f'<svg class="{name}"></svg>'

    def put(match: re.Match[str]) -> str:
        return f"<script>{_PUT.format(html=_script_text(match[0]), up=json.dumps(up))}</script>"

    html = _HEADER_END.sub(_SEARCH, html, count=1)
    html = _NEEDLESS.sub("", _SVG.sub(icon, html))
    for pattern, beside, where in _LATER:
        for tag in re.findall(pattern, html, re.DOTALL):
            html = html.replace(tag, "")
            later.append(_LATER_PUT.format(beside, where, _script_text(tag)))
    later.append(_TITLE)
    html = _TOC_TITLE.sub(">", _NEEDS_SCRIPT.sub(put, html))
    html = _SCRIPT.sub(move_script, _NEXT_SCRIPT.sub("\n", html))
    html = _CONFIG.sub(settings, html)
    sheets = [_COMMENT.sub("", read(path)) for path in _SHEET.findall(html)]
    styles = "\n".join([*sheets, *map(_style, icons, icons.values())])
    if styles:
        path = f"{_SITE_STYLES}site.{_digest(styles)}.css"
        files[path] = styles
        sheet = f'<link rel="stylesheet" href="{up}{path}">'
        html = _SHEET.sub("", html).replace("</head>", f"{sheet}</head>", 1)
    if script_paths := _OWN_SCRIPT.findall(html):
        scripts = ";\n".join(map(read, script_paths))
        path = f"{_SITE_SCRIPTS}site.{_digest(scripts)}.js"
        files[path] = scripts
        html = _OWN_SCRIPT.sub("", html)
        html = html.replace("</body>", f'<script src="{up}{path}"></script></body>', 1)
    return html, files


# Where a page of another depth has the same element, its links begin otherwise.
_PUT = """{{
const script = document.currentScript, up = script.getAttribute("src").replace(/assets\\/.*/, "")
script.insertAdjacentHTML("beforebegin", {html}.replaceAll({up}, up))
}}"""
_LATER_PUT = 'document.querySelector("{}").insertAdjacentHTML("{}", {})\n'


def _script_text(html: str) -> str:
    return json.dumps(re.sub(r"\s*\n\s*", "", html))


def _style(svg: str, name: str) -> str:
    url = f'url("data:image/svg+xml,{quote(svg, safe=" =:/")}")'
    mask = f"{url} center / contain no-repeat"
    return f".{name} {{ background: currentcolor; -webkit-mask: {mask}; mask: {mask}; }}\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
