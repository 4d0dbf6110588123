"""The docs page of dbt 1: dbt's own index.html with the grafted artifacts inside.

dbt 1 ships its docs page as one file with two placeholders for the artifacts. We fill them and add
what the stock page lacks: old links to promoted sources still work, a link leads to the
catalog and to the page of the node in it, and nothing is loaded from the network. Smaller pages, of
some nodes each, lie beside the whole one. Search of the catalog leads to nodes that have a page
here alone.
"""

from __future__ import annotations

import base64
import html
import mimetypes
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from importlib import resources
from pathlib import Path

from dbt_graft.injector import stock
from dbt_graft.injector.artifacts import Document, dump
from dbt_graft.injector.columns import edges_by_target, with_descriptions
from dbt_graft.injector.report import Grafted, name_all
from dbt_graft.injector.selection import select_nodes
from dbt_graft.injector.slim import excerpt, hidden_packages, slim
from dbt_graft.lineage import urls
from dbt_graft.lineage.describe import DocsNode
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.redaction import redact_json

# Its folder in the site, that of the complete page beside dbt 2's, and the name of the page of all
# nodes.
FOLDER, CLASSIC, ALL_MODELS = "dbt", "classic", "Whole project"
# A JSON text is parsed several times faster than the same text as a JavaScript value.
_PARSE = 'JSON.parse(document.getElementById("{}").textContent)'
# Parts of the manifest with pages, and the resource type where a node does not name it.
_PARTS = {
    "nodes": "",
    "exposures": "exposure",
    "metrics": "metric",
    "semantic_models": "semantic_model",
    "saved_queries": "saved_query",
    "unit_tests": "unit_test",
    "functions": "function",
    "macros": "macro",
}
# In the manifest, but without a page.
_WITHOUT = frozenset(("operation", "sql_operation", "rpc", "doc"))


@frozen
class DocsPageSettings:
    """Settings of the docs page.

    Attributes:
        title: The page's title.
        favicon: An image file to put inside; without one the page has none.
        slim: Leave out of the artifacts everything that the page does not read.
        columns: Let the columns of dbt's own nodes say where their values come from.
        site: The relative URL of the site's home, ending in a slash.
        select: The nodes to show, as for dbt's `--select`; all of them if empty.
        others: Name -> relative URL of the other pages of the same project, the complete one first.
        target: dbt's target folder, which may have the page; else it is the installed dbt's.
    """

    title: str
    favicon: Path | None = None
    slim: bool = True
    columns: bool = True
    site: str = "../"
    select: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    target: Path | None = None


def pages(
    grafted: Grafted,
    settings: DocsPageSettings,
    selections: Mapping[str, str],
    *,
    beside_dbt_2: bool = False,
) -> Iterator[tuple[str, bytes]]:
    """The page of the whole project and the smaller ones: path in the site, and content.

    Args:
        selections: Name -> selection of each smaller page, as for dbt's `--select`.
        beside_dbt_2: The page of dbt 2 has the address of the complete page, which is below it.

    Raises:
        GraftError: See `page`; or a selection is not valid or selects nothing.
    """
    paths = {name: f"{name}/index.html" for name in selections}
    complete, up = (f"{CLASSIC}/index.html", "../") if beside_dbt_2 else ("index.html", "")
    others = {"dbt 2": "../index.html"} if beside_dbt_2 else {}
    others |= {name: up + path for name, path in paths.items()}
    yield (
        f"{FOLDER}/{complete}",
        page(grafted, replace(settings, site=up + settings.site, others=others)),
    )
    for name, selection in selections.items():
        others = {other: f"../{path}" for other, path in paths.items() if other != name}
        page_settings = replace(
            settings,
            title=f"{name} · {settings.title}",
            site=f"../{settings.site}",
            select=selection,
            others={ALL_MODELS: f"../{complete}", **others},
        )
        try:
            content = page(grafted, page_settings)
        except GraftError as error:
            problem = f"`docs.pages`, {name}: {error.problem}"
            raise GraftError(problem, place=error.place, remedy=error.remedy) from error
        yield f"{FOLDER}/{paths[name]}", content


def page(grafted: Grafted, settings: DocsPageSettings) -> bytes:
    """Return the docs page as one HTML file, in UTF-8.

    Raises:
        GraftError: There is no docs page of dbt or an unsupported one, or the favicon cannot be
            read or is not an image.
    """
    manifest, catalog = grafted.linked_to(settings.site, name_all), grafted.catalog
    if settings.select:
        selected_ids = select_nodes(grafted.manifest, settings.select, grafted.redirects)
        manifest, catalog = excerpt(manifest, catalog, selected_ids)
    manifest = {
        **manifest,
        "metadata": {**manifest["metadata"], "send_anonymous_usage_stats": False},
    }
    if settings.columns:
        edges = edges_by_target(grafted.lineage.column_edges)
        manifest = with_descriptions(manifest, catalog, edges, grafted.dbt_nodes)
    if settings.slim:
        manifest, catalog = slim(manifest, catalog)
    manifest, catalog = redact_json(manifest), redact_json(catalog)
    site = settings.site
    links = {
        "home": site,
        "whole": settings.others.get(ALL_MODELS, ""),
        "pages": _pages(grafted, site, manifest),
        "redirects": grafted.redirects,
    }
    package = resources.files("dbt_graft.injector")
    script = package.joinpath("page.js").read_text("utf-8").replace("GRAFT_DATA", inline(links))
    style = package.joinpath("page.css").read_text("utf-8")
    # dbt's page is one AngularJS template, head included: nothing of ours may be a part of it.
    head = f"<title ng-non-bindable>{html.escape(settings.title)}</title><style>{style}</style>"
    back = (
        f'<nav id="graft-links" aria-label="Catalog" ng-non-bindable>'
        f'<span><a href="{html.escape(site)}index.html">Catalog</a> '
        f'<a href="{html.escape(site)}index.html#search=">Search</a>'
        f"{_others(settings)}</span></nav>"
        f"{_data('graft-manifest', manifest)}{_data('graft-catalog', catalog)}"
    )
    return stock.change_page(
        stock.read(settings.target),
        {
            stock.MANIFEST: f"graftComplete({_PARSE.format('graft-manifest')})",
            stock.CATALOG: _PARSE.format("graft-catalog"),
            # Behind the character set, before dbt's own script.
            stock.TITLE: f"{head}<script>{script}</script>",
            stock.FAVICON: _favicon(settings.favicon),
            stock.END: back + stock.END,
        },
    ).encode("utf-8", "replace")


def _others(settings: DocsPageSettings) -> str:
    """A list of the other pages that unfolds, without script."""
    if not settings.others:
        return ""
    links = "".join(
        f'<li><a href="{html.escape(url)}">{html.escape(name)}</a></li>'
        for name, url in settings.others.items()
    )
    return f"<details><summary>Pages</summary><ul>{links}</ul></details>"


def _data(name: str, document: Document) -> str:
    return f'<script type="application/json" id="{name}">{inline(document)}</script>'


def inline(document: Document) -> str:
    """Return a document as JSON that cannot end the script element around it."""
    text = dump(document).decode("utf-8")
    # The two separators end a line in JavaScript before ES2019.
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _favicon(path: Path | None) -> str:
    """Return the image as a data URL, which works from any folder and from a file."""
    if path is None:
        return "data:,"
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise GraftError(
            "the favicon is not an image",
            place=str(path),
            remedy="set `docs.favicon` to an .ico, .png, .svg, .gif, .jpg or .webp file",
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise GraftError(
            f"the favicon cannot be read: {error.strerror}",
            place=str(path),
            remedy="correct `docs.favicon` in graft.yml",
        ) from error
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _pages(grafted: Grafted, site: str, manifest: Document) -> dict[str, list[str]]:
    """dbt's unique_id -> name and URL of its page in the catalog."""
    node_ids = {
        key for part in ("nodes", "sources", "exposures") for key in manifest.get(part) or ()
    }
    pages = {
        description.node_id: [dataset.short, site + urls.dataset_path(dataset)]
        for dataset, description in grafted.descriptions.items()
    }
    for exposure in grafted.report.exposures:
        pages[exposure.node_id] = [exposure.task, site + urls.task_path(exposure.task)]
    return {key: entry for key, entry in sorted(pages.items()) if key in node_ids}


def docs_nodes(grafted: Grafted) -> tuple[DocsNode, ...]:
    """The nodes that dbt docs has a page of and the catalog has none, sorted by id."""
    return tuple(sorted(_list_nodes(grafted), key=lambda node: node.node_id))


def _list_nodes(grafted: Grafted) -> Iterator[DocsNode]:
    manifest = grafted.manifest
    in_catalog = {
        *(description.node_id for description in grafted.descriptions.values()),
        *(id_ for description in grafted.descriptions.values() for id_ in description.dbt_ids),
        *(consumer.node_id for consumer in grafted.consumers),
    }
    hidden = hidden_packages(manifest)
    for part, kind in _PARTS.items():
        for node_id, node in (manifest.get(part) or {}).items():
            resource = str(node.get("resource_type") or kind)
            if node_id in in_catalog or resource in _WITHOUT:
                continue
            if part == "macros" and node.get("package_name") in hidden:
                continue
            yield DocsNode(
                node_id=node_id,
                name=str(node.get("name") or node_id),
                kind=resource,
                text=str(node.get("description") or ""),
                is_generic_test=resource == "test" and bool(node.get("test_metadata")),
            )
