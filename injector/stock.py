"""The docs page of dbt 1 and our changes to its code.

The page is one minified file, in dbt-core and in the target folder. Each change replaces a piece of
its code. A page in which a piece does not occur exactly once is unsupported and refused: with half
of the changes it could fail in the browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache, partial
from importlib import resources
from pathlib import Path

from dbt_graft.lineage.errors import GraftError

_REMEDY = "run `dbt docs generate` with dbt 1.9 to 1.12, or install dbt-core~=1.11.10 beside graft"

# Where our parts go.
MANIFEST, CATALOG = '"MANIFEST.JSON INLINE DATA"', '"CATALOG.JSON INLINE DATA"'
TITLE, END = "<title>dbt Docs</title>", "</body>"
FAVICON = "${require('./assets/favicons/favicon.ico')}"  # dbt's build never filled it in
_PLACES = (MANIFEST, CATALOG, TITLE, END, FAVICON)

# Code of the page -> ours. `§x` is a variable, whatever the build of dbt's page called it, and
# blanks do not count: up to dbt 1.10 another build made the same program.
CODE = {
    # Searched: names, descriptions and code are shown as HTML.
    ".highlight=function(§t){if(!§n.query": (
        '.highlight=function(§t){§t=§t&&§t.replace(/&/g,"&amp;").replace(/</g,"&lt;");if(!§n.query'
    ),
    # The closed graph lays out and draws the whole project behind the page; each opening selects
    # what it shows.
    ",§A.graph.elements=§r.flatten(§r.values(§A.graph.pristine.nodes)"
    ".concat(§r.values(§A.graph.pristine.edges))),§p(§t.nodes())": "",
    # `ancestorNodes` and `descendentNodes` follow every path instead of every node: a ladder of two
    # columns doubles the time with each rung, a cycle overflows the stack.
    "function §i(§e,§t,§n,§a){§a||(§a=1);var §l=§e.predecessors(§t);if(!§l||0==§n)return[];"
    "var §s=§l.concat(§l.reduce((function(§x,§y){return §a>=§n&&§o(§n)?§x:§x.concat("
    "§i(§e,§y,§n,§a+1))}),[]));return §r.uniq(§s)}": (
        'function §i(e,t,n){return walk(e,t,n,"predecessors")}'
    ),
    "function §a(§e,§t,§n,§i){§i||(§i=1);var §l=§e.successors(§t);if(!§l||0==§n)return[];"
    "var §s=§l.concat(§l.reduce((function(§x,§y){return §i>=§n&&§o(§n)?§x:§x.concat("
    "§a(§e,§y,§n,§i+1))}),[]));return §r.uniq(§s)}": (
        'function §a(e,t,n){return walk(e,t,n,"successors")}'
        "function walk(dag,start,hops,next){const found=new Set;let level=[start];"
        "for(let hop=0;level.length&&!(§o(hops)&&hop>=hops);hop++){const further=[];"
        "for(const node of level)for(const near of dag[next](node)||[])"
        "found.has(near)||(found.add(near),further.push(near));level=further}return[...found]}"
    ),
    # The list of all tags is made anew and sorted for each node: quadratic where each task has a
    # tag.
    "=[null];§o.each(§t.nodes,(function(§e){var §x=§e.tags;§a=§o.union(§a,§x).sort()}))": (
        "=new Set([null]);§o.each(§t.nodes,(function(e){"
        "Array.isArray(e.tags)&&e.tags.forEach((e=>§a.add(e)))})),§a=[...§a].sort()"
    ),
    # `source:raw+` also selects models that were sources, by `former_sources` of `page.js`.
    "function §h(§e,§t){var §n=[];return §r.each(§e,(function(§x){var §y=§x.data;"
    'if("source"==§y.resource_type){var §o,§i,§a=§y.source_name,§l=§y.name;-1!=§t.indexOf(".")?'
    '[§o,§i]=§t.split(".",2):(§o=§t,§i=null),("*"==§o||§o==§a&&"*"===§i||§o==§a&&§i===§l'
    "||§o==§a&&null===§i)&&§n.push(§x.data)}})),§n}": (
        'function §h(e,t){const[o,i]=t.split(".",2);return §r.map(e,(e=>e.data)).filter((e=>'
        '("source"==e.resource_type?[[e.source_name,e.name]]:e.former_sources||[]).some((([a,l])=>'
        '"*"==o||o==a&&(void 0===i||"*"==i||i==l)))))}'
    ),
    # As in PLAIN.
    ".shorten=function(§e){if(null!=§e": ".shorten=function(§e){if(null!=(§e=§e?.graftPlain())",
    # `meta.graft` is for programs; the page would show it as raw JSON.
    "if(§e.meta=§t.meta||§d,": "if(§e.meta=§t.meta&&(({graft,...meta})=>meta)(§t.meta)||§d,",
}
# Markdown in fields that show text: links as their text, without escapes.
PLAIN = {
    "{{ source.description }}": "{{ source.description.graftPlain() }}",
    "{{ column.description }}": "{{ column.description.graftPlain() }}",
}
# Likewise, as it is written in every build.
_TEXTS = {
    # The sidebar renders every line of three trees, 100,000 elements for 3,000 models, though a
    # line shows only where its folder is open and its tab chosen: now they are made when they show.
    '<ul ng-if="item.items">': '<ul ng-if="item.items && item.active">',
    r"""<div class="menu" ng-show="nav_selected == \'database\'">""": (
        r"""<div class="menu" ng-if="nav_selected == \'database\'">"""
    ),
    r"""<div class="menu" ng-show="nav_selected == \'group\'">""": (
        r"""<div class="menu" ng-if="nav_selected == \'group\'">"""
    ),
    **PLAIN,
}
# Requests to the network, however many: the tracker starts if the manifest allows it, and the URL
# of an icon is requested before it is rendered.
_QUIET = {
    '<link rel="canonical" href="/overview/"/>': "",
    '<link rel="canonical" href="/overview/" />': "",
    "//d1fc8wv8zag5ca.cloudfront.net/2.9.0/sp.js": "data:,",
    '<use xlink:href="{{': '<use ng-attr-xlink:href="{{',
}


def read(target: Path | None = None) -> str:
    """Return dbt's docs page: that of a target folder, else that of the installed dbt-core.

    Raises:
        GraftError: There is none, or none with the code that we change.
    """
    fault = GraftError("there is no docs page of dbt", place=str(target or ""), remedy=_REMEDY)
    for place, page in _pages(target):
        try:
            change_page(page, dict.fromkeys(_PLACES, ""))
        except GraftError as error:
            fault = GraftError(error.problem, place=place, remedy=_REMEDY)
        else:
            return page
    raise fault


def _pages(target: Path | None) -> Iterator[tuple[str, str]]:
    """dbt's docs pages on this machine, each behind its place."""
    if target and (path := target / "index.html").is_file():
        page = path.read_text("utf-8", "replace")
        if MANIFEST in page:  # not filled, and of no other tool
            yield str(path), page
    try:
        file = resources.files("dbt").joinpath("task/docs/index.html")
        yield str(file), file.read_text("utf-8")
    except (ModuleNotFoundError, FileNotFoundError):  # no dbt-core, or one of a later generation
        return


def change_page(stock: str, parts: Mapping[str, str]) -> str:
    """Return the page with its code changed and the placeholders in `parts` filled.

    Parts are filled in one pass, the last: what stands in them is never replaced.

    Raises:
        GraftError: A piece of code or a placeholder does not occur exactly once.
    """
    page = _change_code(stock)
    once = {**_TEXTS, **parts}
    for piece in once:
        if (count := page.count(piece)) != 1:
            raise _unknown_page(f"has {piece[:60]} {count} times instead of once")
    pieces = {**_QUIET, **once}
    pattern = "|".join(re.escape(piece) for piece in pieces)
    return re.sub(pattern, lambda match: pieces[match[0]], page)


@lru_cache(maxsize=2)
def _change_code(page: str) -> str:
    """The page with its code changed; a build asks for the same several times."""
    for piece, code in CODE.items():
        page, count = code_pattern(piece).subn(partial(_with_variables, code), page)
        if count != 1:
            raise _unknown_page(f"has {piece[:60]} {count} times instead of once")
    return page


@cache
def code_pattern(piece: str) -> re.Pattern[str]:
    """A piece of code of `CODE`, in any build of the page."""
    variables: set[str] = set()
    parts = []
    for token in re.findall(r'§\w|\w+|"[^"]*"|\S', piece):
        name = token.removeprefix("§")
        if name == token:
            parts.append(re.escape(token))
        elif name in variables:
            parts.append(f"(?P={name})")
        else:
            variables.add(name)
            parts.append(rf"(?P<{name}>[\w$]+)")
    return re.compile(r"\s*".join(parts))


def _with_variables(code: str, match: re.Match[str]) -> str:
    return re.sub(r"§(\w)", lambda variable: match[variable[1]], code)


def _unknown_page(problem: str) -> GraftError:
    return GraftError(f"the docs page of dbt {problem}", remedy=_REMEDY)
