"""The docs page: dbt's own, with the artifacts inside and nothing that can break out of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.injector import docs, stock
from dbt_graft.injector.docs import docs_nodes
from dbt_graft.injector.graft import graft
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.describe import DocsNode
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]> --> */",
    "line\u2028separator\u2029paragraph",
    "lone \ud800 surrogate",
    '"CATALOG.JSON INLINE DATA" </body> \\" \\',
    "{{ constructor.constructor('alert(1)')() }}",
    "[x](javascript:alert(1))",
]
SELECTIONS = {"finance": "+orders", "scores": "customer_segments"}


def _page(grafted: Grafted, title: str = "Shop data", slim: bool = True) -> str:
    return docs.page(grafted, docs.DocsPageSettings(title, slim=slim)).decode()


def _inlined(page: str) -> dict[str, Any]:
    """The artifacts as the page's own script gets them."""
    return {
        name: json.loads(re.findall(rf'id="graft-{name}">([^<]*)</script>', page)[0])
        for name in ("manifest", "catalog")
    }


def test_both_artifacts_stand_in_the_page(grafted: Grafted) -> None:
    found = _inlined(_page(grafted, slim=False))

    assert found["manifest"]["nodes"] == grafted.manifest["nodes"]
    assert found["manifest"]["parent_map"] == grafted.manifest["parent_map"]
    assert found["catalog"] == grafted.catalog


def test_the_page_links_relatively_and_the_artifacts_to_the_site_or_not_at_all(
    project: Any, log: Any
) -> None:
    def texts(nodes: dict[str, Any]) -> str:
        return json.dumps([(node["description"], node.get("url")) for node in nodes.values()])

    for site in ("", "https://docs.example.com/lineage/"):
        options = GraftOptions("spark", site)
        grafted = graft(project.artifacts(), log.lineage(), options)
        manifest = _inlined(_page(grafted))["manifest"]
        for part in ("nodes", "sources", "exposures"):
            written = texts(grafted.manifest[part])
            assert "](../" in (shown := texts(manifest[part]))
            assert "../" not in written
            assert written.count("](") == (shown.count("](../") if site else 0) + written.count(
                "](https://git.example"
            )
            assert ("](https://docs.example.com/lineage/" in written) == bool(site)
    assert (
        "land_shop_files"
        in grafted.manifest["nodes"]["model.python_tasks.raw_orders"]["description"]
    )


def test_what_the_page_never_reads_is_left_out(grafted: Grafted) -> None:
    found = _inlined(_page(grafted))

    assert found["manifest"]["nodes"].keys() == grafted.manifest["nodes"].keys()
    assert "child_map" not in found["manifest"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_gets_out_of_the_script(
    project: Any, empty_log: Any, run: Callable[..., Grafted], text: str
) -> None:
    project.manifest["nodes"]["model.shop.orders"]["description"] = text
    empty_log.statement(text, ["landing/orders"], ["spark/raw.orders"], text=text)
    empty_log.statement(f"{text} reads", ["spark/raw.orders"])
    grafted = run(project, empty_log)

    page, of_dbt = _page(grafted), stock.read()

    found = _inlined(page)
    description = found["manifest"]["nodes"]["model.shop.orders"]["description"]
    assert description.startswith(text)
    for tag in ("<script", "</script", "<!--", "</body"):
        # Ours are one script and two of data.
        ours = {"<script": 3, "</script": 3}.get(tag, 0)
        assert page.count(tag) == of_dbt.count(tag) + ours, tag
    assert page.count("\u2028") == of_dbt.count("\u2028")


@pytest.mark.parametrize("text", HOSTILE)
def test_the_code_of_a_hostile_statement_is_still_python(
    project: Any, empty_log: Any, run: Callable[..., Grafted], text: str
) -> None:
    empty_log.statement('a\nimport os"""', [], ["spark/raw.orders"], text=f'{text} """ \\')

    code = run(project, empty_log).manifest["nodes"]["model.python_tasks.raw_orders"]["raw_code"]

    tree = compile(code.replace("\ud800", ""), "x.py", "exec")
    assert not set(tree.co_names) & {"os", "alert"}


def test_a_task_name_cannot_write_markdown(
    project: Any, empty_log: Any, run: Callable[..., Grafted]
) -> None:
    empty_log.statement("x](javascript:alert(1)) ![y", [], ["spark/raw.orders"])

    text = run(project, empty_log).manifest["nodes"]["model.python_tasks.raw_orders"]["description"]

    assert r"[x\](javascript:alert(1)) \!\[y](../tasks/" in text


def test_the_page_asks_the_network_for_nothing(grafted: Grafted) -> None:
    page = _page(grafted)

    assert _inlined(page)["manifest"]["metadata"]["send_anonymous_usage_stats"] is False
    assert "cloudfront.net" not in page
    assert 'rel="canonical"' not in page
    assert re.findall(r'<link rel="shortcut icon" href="([^"]*)"', page) == ["data:,"]
    assert '<use xlink:href="{{' not in page
    assert grafted.manifest["metadata"]["send_anonymous_usage_stats"] is True


def test_search_results_show_texts_as_text(grafted: Grafted) -> None:
    page = _page(grafted)

    # The head of the page's own function; tests/site searches for hostile texts in a browser.
    assert re.search(r'highlight=function\((\w)\)\{\1=\1&&\1\.replace\(/&/g,"&amp;"\)', page)


def test_the_title_is_ours_and_escaped(grafted: Grafted) -> None:
    page = _page(grafted, title="Shop & <Co>")

    assert "<title ng-non-bindable>Shop &amp; &lt;Co&gt;</title>" in page


def test_a_favicon_is_put_inside(grafted: Grafted, tmp_path: Path) -> None:
    icon = tmp_path / "icon.svg"
    icon.write_text("<svg/>")

    page = docs.page(grafted, docs.DocsPageSettings("Shop data", icon)).decode()

    assert '<link rel="shortcut icon" href="data:image/svg+xml;base64,PHN2Zy8+"/>' in page


@pytest.mark.parametrize(
    ("name", "problem"),
    [("gone.png", "cannot be read: No such file"), ("secrets.yml", "is not an image")],
)
def test_a_favicon_that_cannot_be_used_is_an_error(
    grafted: Grafted, tmp_path: Path, name: str, problem: str
) -> None:
    with pytest.raises(GraftError, match=problem):
        docs.page(grafted, docs.DocsPageSettings("Shop data", tmp_path / name))


def _links(page: str) -> dict[str, Any]:
    """The data of our own script."""
    start = page.index('{"home":')
    found: dict[str, Any] = json.JSONDecoder().raw_decode(page, start)[0]
    return found


def test_old_addresses_of_promoted_sources_are_redirected(grafted: Grafted) -> None:
    links = _links(_page(grafted))

    assert links["redirects"]["source.shop.raw.orders"] == "model.python_tasks.raw_orders"


@pytest.mark.parametrize(
    ("node_id", "page"),
    [
        ("model.python_tasks.raw_orders", "../datasets/spark/raw/orders/"),
        ("model.shop.orders", "../datasets/spark/analytics/orders/"),
        ("source.shop.raw.exchange_rates", "../datasets/spark/raw/exchange_rates/"),
        ("exposure.python_tasks.export_finance_report", "../tasks/export_finance_report/"),
    ],
)
def test_a_node_leads_to_its_page_in_the_catalog(grafted: Grafted, node_id: str, page: str) -> None:
    links = _links(_page(grafted))

    assert links["pages"][node_id][1] == page


def test_the_character_set_is_declared_in_the_first_kilobyte(grafted: Grafted) -> None:
    assert '<meta charset="utf-8">' in _page(grafted)[:1024]


@for_each(
    "broken",
    [
        lambda page: page.replace(stock.MANIFEST, '"something else"'),
        lambda page: page.replace(stock.CATALOG, f"{stock.CATALOG}, {stock.CATALOG}"),
        lambda page: page.replace(stock.TITLE, ""),
        lambda page: page.replace(".highlight=function", ".shine=function"),
        lambda page: page.replace('<ul ng-if="item.items">', "<ul>"),
        lambda page: page.replace("A.graph.elements=r.flatten", "A.graph.elements=flatten"),
        lambda page: page.replace("e.predecessors(t)", "e.parents(t)"),
        lambda page: page.replace("a=o.union(a,t)", "a=union(a,t)"),
        lambda page: page.replace("e.meta=t.meta||d", "e.meta=t.meta"),
    ],
    ids=[
        "manifest gone",
        "catalog twice",
        "title gone",
        "search changed",
        "tree changed",
        "graph changed",
        "walk changed",
        "tags changed",
        "details changed",
    ],
)
def test_an_unknown_docs_page_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: Callable[[str], str]
) -> None:
    page = broken(stock.read())
    monkeypatch.setattr(stock, "_pages", lambda _: [("target/index.html", page)])

    with pytest.raises(GraftError, match=r"^target/index.html: the docs page of dbt has "):
        stock.read(tmp_path)


@for_each("piece", stock.CODE)
def test_code_of_another_build_of_the_page_is_changed(piece: str) -> None:
    """dbt 1.9 and 1.10 have blanks between its words, and variables have other names."""
    tokens = re.findall(r'§\w|\w+|"[^"]*"|\S', piece)
    other = re.sub(r"§(\w)", r"\g<1>_9", " ".join(tokens))
    page = stock.code_pattern(piece).sub(lambda _: other, stock.read())

    changed = stock.change_page(page, {})

    assert other not in changed
    assert re.sub(r"§(\w)", r"\g<1>_9", stock.CODE[piece]) in changed


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", ["1.9.11", "1.10.23"])
def test_the_page_of_an_older_dbt_is_known(version: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", tmp_path]
    done = subprocess.run([*command, f"dbt-core=={version}"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no package index can be reached")
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extract("dbt/task/docs/index.html", tmp_path)

    assert stock.read(tmp_path / "dbt/task/docs") != stock.read()


def test_the_page_is_that_of_the_target_folder(grafted: Grafted, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(stock.read().replace("<body", "<body data-mine"))

    settings = docs.DocsPageSettings("Shop data", target=tmp_path)

    assert b"<body data-mine" in docs.page(grafted, settings)


@pytest.mark.parametrize(
    "page",
    [
        None,
        "<html>of another tool</html>",
        '<html>MANIFEST.JSON of an old dbt: "MANIFEST.JSON INLINE DATA"</html>',
    ],
)
def test_the_page_is_that_of_the_installed_dbt_where_the_folder_has_none_that_is_known(
    tmp_path: Path, page: str | None
) -> None:
    if page:
        (tmp_path / "index.html").write_text(page)
    assert stock.read(tmp_path) == stock.read()


def test_beside_the_page_of_dbt_2_the_complete_page_is_below_it(grafted: Grafted) -> None:
    settings = docs.DocsPageSettings("Shop data")
    published = dict(docs.pages(grafted, settings, SELECTIONS, beside_dbt_2=True))

    complete = published["dbt/classic/index.html"].decode()
    assert list(published)[1:] == ["dbt/finance/index.html", "dbt/scores/index.html"]
    assert '<a href="../../index.html">Catalog</a>' in complete
    assert '<a href="../index.html">dbt 2</a>' in complete
    assert '<a href="../finance/index.html">finance</a>' in complete
    assert '<a href="../classic/index.html">Whole project</a>' in (
        published["dbt/finance/index.html"].decode()
    )


@pytest.fixture
def published(grafted: Grafted) -> dict[str, str]:
    """The pages of a project with two smaller ones."""
    settings = docs.DocsPageSettings("Shop data")
    return {path: page.decode() for path, page in docs.pages(grafted, settings, SELECTIONS)}


def test_smaller_pages_lie_beside_the_complete_one(
    grafted: Grafted, published: dict[str, str]
) -> None:
    assert list(published) == ["dbt/index.html", "dbt/finance/index.html", "dbt/scores/index.html"]
    whole = _inlined(published["dbt/index.html"])
    assert whole == _inlined(_page(grafted))
    for path in list(published)[1:]:
        part = _inlined(published[path])
        for name in ("nodes", "sources", "exposures"):
            assert part["manifest"][name].keys() < whole["manifest"][name].keys()
        assert part["catalog"]["nodes"].keys() <= part["manifest"]["nodes"].keys()


def test_a_smaller_page_shows_the_selected_nodes_and_what_they_use(
    published: dict[str, str],
) -> None:
    shown = _inlined(published["dbt/finance/index.html"])["manifest"]
    nodes = {*shown["nodes"], *shown["sources"]}
    assert {"model.shop.orders", "model.shop.stg_orders", "test.shop.not_null_orders_id"} <= nodes
    assert "model.python_tasks.raw_orders" in nodes, "a source that a task writes"
    assert "model.shop.customer_segments" not in nodes
    assert shown["exposures"] == {}
    for part in ("nodes", "sources"):
        for node in shown[part].values():
            depends_on = node.get("depends_on") or {}
            assert set(depends_on.get("nodes", ())) <= nodes
            assert set(depends_on.get("macros", ())) <= shown["macros"].keys()
    for key, parents in shown["parent_map"].items():
        assert {key, *parents} <= nodes | shown["unit_tests"].keys()


def test_the_pages_lead_to_each_other_and_to_the_catalog(published: dict[str, str]) -> None:
    def links(path: str) -> list[tuple[str, str]]:
        nav = re.findall(r'<nav id="graft-links".*?</nav>', published[path])[0]
        return re.findall(r'<a href="([^"]*)">([^<]*)</a>', nav)

    assert links("dbt/index.html") == [
        ("../index.html", "Catalog"),
        ("../index.html#search=", "Search"),
        ("finance/index.html", "finance"),
        ("scores/index.html", "scores"),
    ]
    assert links("dbt/finance/index.html") == [
        ("../../index.html", "Catalog"),
        ("../../index.html#search=", "Search"),
        ("../index.html", "Whole project"),
        ("../scores/index.html", "scores"),
    ]
    data = _links(published["dbt/finance/index.html"])
    assert data["whole"] == "../index.html"
    assert data["pages"]["model.shop.orders"][1] == "../../datasets/spark/analytics/orders/"
    assert "model.shop.customer_segments" not in data["pages"]
    assert _links(published["dbt/index.html"])["whole"] == ""


def test_texts_of_a_smaller_page_lead_to_the_catalog_too(published: dict[str, str]) -> None:
    text = json.dumps(_inlined(published["dbt/finance/index.html"]))
    assert "](../../datasets/" in text
    assert not re.search(r"\]\(\.\./(?!\.\./)", text)


@pytest.mark.parametrize(
    ("selection", "problem"),
    [
        ("tag:no_such_tag", "`docs.pages`, none: selects no node"),
        ("state:modified", "`docs.pages`, none: 'state' is not one of the methods"),
    ],
)
def test_a_selection_that_cannot_make_a_page_is_an_error(
    grafted: Grafted, selection: str, problem: str
) -> None:
    with pytest.raises(GraftError, match=problem):
        dict(docs.pages(grafted, docs.DocsPageSettings("Shop data"), {"none": selection}))


def _with(grafted: Grafted, **parts: dict[str, object]) -> tuple[DocsNode, ...]:
    merged = {name: {**(grafted.manifest.get(name) or {}), **part} for name, part in parts.items()}
    return docs_nodes(replace(grafted, manifest={**grafted.manifest, **merged}))


def test_no_node_with_a_page_in_the_catalog_is_listed(grafted: Grafted) -> None:
    ids = {node.node_id for node in docs_nodes(grafted)}
    assert grafted.descriptions
    for description in grafted.descriptions.values():
        assert not ids & {description.node_id, *description.dbt_ids}
    assert not ids & {consumer.node_id for consumer in grafted.consumers}


def test_tests_macros_and_metrics_are_listed(grafted: Grafted) -> None:
    generic = {"resource_type": "test", "name": "unique_a", "test_metadata": {"name": "unique"}}
    nodes = {
        node.node_id: node
        for node in _with(
            grafted,
            nodes={
                "test.shop.own": {"resource_type": "test", "name": "own", "description": "Why."},
                "test.shop.unique_a": generic,
                "operation.shop.hook": {"resource_type": "operation", "name": "hook"},
            },
            macros={"macro.shop.cents": {"name": "cents", "package_name": "shop"}},
            metrics={"metric.shop.revenue": {"name": "revenue", "resource_type": "metric"}},
        )
    }
    assert nodes["test.shop.own"] == DocsNode("test.shop.own", "own", "test", "Why.")
    assert nodes["test.shop.unique_a"].is_generic_test
    assert nodes["macro.shop.cents"].kind == "macro"
    assert nodes["metric.shop.revenue"].kind == "metric"
    assert "operation.shop.hook" not in nodes


def test_macros_of_dbt_itself_have_no_page(grafted: Grafted) -> None:
    adapter = grafted.manifest["metadata"]["adapter_type"]
    nodes = _with(
        grafted,
        macros={
            "macro.dbt.run": {"name": "run", "package_name": "dbt"},
            "macro.own.run": {"name": "run", "package_name": f"dbt_{adapter}"},
        },
    )
    assert not {"macro.dbt.run", "macro.own.run"} & {node.node_id for node in nodes}
