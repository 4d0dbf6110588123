"""The docs page: dbt's own index.html with the grafted artifacts inside.

dbt ships its docs page as one file with two placeholders for the artifacts. Beside filling them
we add what the stock page lacks: old links to promoted sources still land, a link leads to the
catalog and to the shown node's page in it, and nothing is loaded from the network.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from importlib import metadata, resources

from injector.artifacts import Document, dump
from injector.report import Grafted
from lineage import urls
from lineage.errors import GraftError

_MANIFEST = '"MANIFEST.JSON INLINE DATA"'
_CATALOG = '"CATALOG.JSON INLINE DATA"'
_TITLE = "<title>dbt Docs</title>"
_END = "</body>"
# What would ask the network: the favicon's path was never filled in by dbt's build, the tracker
# starts where a manifest allows it, and an icon's address is requested before it is rendered.
_REPAIRED = {
    '<link rel="canonical" href="/overview/"/>': "",
    "${require('./assets/favicons/favicon.ico')}": "data:,",
    "//d1fc8wv8zag5ca.cloudfront.net/2.9.0/sp.js": "data:,",
    '<use xlink:href="{{': '<use ng-attr-xlink:href="{{',
}
# The page's search results take names, descriptions and code as HTML: the head of the function
# that all of them go through.
_HIGHLIGHT = re.compile(r"(\w+)\.highlight=function\((\w+)\)\{(?=if\(!\1\.query)")


def page(grafted: Grafted, title: str, site: str = "../") -> bytes:
    """The docs page as one HTML file, in UTF-8.

    Args:
        site: The way from the page to the site's home, ending in a slash.

    Raises:
        GraftError: The installed dbt has no docs page, or one we do not know.
    """
    manifest = {
        **grafted.manifest,
        "metadata": {**grafted.manifest["metadata"], "send_anonymous_usage_stats": False},
    }
    links = {
        "home": site,
        "pages": _pages(grafted, site),
        "redirects": grafted.redirects,
        "selectors": _selectors(grafted),
    }
    here = resources.files("injector")
    script = here.joinpath("page.js").read_text("utf-8").replace("GRAFT_DATA", _inline(links))
    style = here.joinpath("page.css").read_text("utf-8")
    back = f'<p id="graft-links"><a href="{html.escape(site)}">Catalog</a></p>'
    return _filled(
        _with_safe_search(stock_page()),
        {
            _MANIFEST: _inline(manifest),
            _CATALOG: _inline(grafted.catalog),
            # Behind the character set, before dbt's own script.
            _TITLE: (
                f"<title>{html.escape(title)}</title><style>{style}</style><script>{script}</script>"
            ),
            _END: back + _END,
        },
    ).encode("utf-8", "replace")


def stock_page() -> str:
    """The docs page of the installed dbt.

    Raises:
        GraftError: There is none.
    """
    try:
        return resources.files("dbt").joinpath("task/docs/index.html").read_text("utf-8")
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise GraftError(
            f"dbt-core {_dbt_version()} brings no docs page",
            remedy="install dbt-core 1.11.10 or a later 1.11",
        ) from error


def _with_safe_search(stock: str) -> str:
    """The page with the texts in its search results shown as text, whatever they hold."""
    safe, count = _HIGHLIGHT.subn(
        r'\g<0>\2=\2&&\2.replace(/&/g,"&amp;").replace(/</g,"&lt;");', stock
    )
    if count != 1:
        raise _unknown_page(f"has {count} functions that show search results instead of one")
    return safe


def _filled(stock: str, parts: Mapping[str, str]) -> str:
    """The page with each placeholder replaced, in one pass: what is put in is never looked at."""
    for placeholder in parts:
        if (count := stock.count(placeholder)) != 1:
            raise _unknown_page(f"has {placeholder} {count} times instead of once")
    known = {**_REPAIRED, **parts}
    pattern = "|".join(re.escape(text) for text in known)
    return re.sub(pattern, lambda match: known[match[0]], stock)


def _inline(document: Document) -> str:
    """A document as a JavaScript value that cannot end the script it stands in."""
    text = dump(document).decode("utf-8")
    # The two separators end a line in JavaScript before ES2019.
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _pages(grafted: Grafted, site: str) -> dict[str, list[str]]:
    """dbt's unique_id -> name and address of its page in the catalog."""
    pages = {
        description.node_id: [dataset.short, site + urls.dataset_path(dataset)]
        for dataset, description in grafted.descriptions.items()
    }
    for read in grafted.report.exposures:
        task = read.tasks[0]
        pages[read.node_id] = [task, site + urls.task_path(task)]
    return dict(sorted(pages.items()))


def _selectors(grafted: Grafted) -> dict[str, str]:
    """`<source>.<table>` as old graph links select it -> the promoted model's name."""
    return {
        ".".join(source.split(".", 2)[2:]): built.name
        for built in grafted.report.promoted
        for source in built.sources
    }


def _unknown_page(found: str) -> GraftError:
    return GraftError(
        f"the docs page of dbt-core {_dbt_version()} {found}",
        remedy="install dbt-core 1.11.10 or a later 1.11",
    )


def _dbt_version() -> str:
    try:
        return metadata.version("dbt-core")
    except metadata.PackageNotFoundError:
        return "(not installed)"
