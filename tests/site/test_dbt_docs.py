"""The grafted dbt docs page in a browser."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from dbt_graft.injector import artifacts, docs
from dbt_graft.injector.graft import graft
from dbt_graft.injector.options import GraftOptions
from dbt_graft.lineage.model import Lineage
from tests.cases import for_each

pytestmark = [pytest.mark.browser, pytest.mark.demo]

SCORES = "model.python_tasks.ml_customer_scores"

_GRAPH = """() => {
  const box = document.querySelector('.__________cytoscape_container');
  if (!box || !box._cyreg || !box._cyreg.cy) return null;
  const shown = box._cyreg.cy.elements(':visible');
  return {
    nodes: shown.nodes().map(node => node.id()),
    edges: shown.edges().map(edge => [edge.source().id(), edge.target().id()]),
    colours: Object.fromEntries(
      shown.nodes().map(node => [node.id(), node.style('background-color')])),
  };
}"""


def graph(page: Page) -> dict[str, Any]:
    """Nodes, edges and colours of the lineage graph, once it is drawn."""
    page.wait_for_function(f"() => {{ const g = ({_GRAPH})(); return g && g.nodes.length > 0 }}")
    shown: dict[str, Any] = page.evaluate(_GRAPH)
    return shown


def focused(selector: str) -> str:
    return f"dbt/index.html#!/overview?g_v=1&g_i={quote(selector, safe='')}"


def edges(shown: dict[str, Any]) -> set[tuple[str, str]]:
    return {(source, target) for source, target in shown["edges"]}


def test_a_python_task_of_its_own_colour_is_between_two_dbt_models(visit: Any) -> None:
    shown = graph(visit.open(focused("1+ml_customer_scores+1")))
    assert ("model.shop.customers", SCORES) in edges(shown)
    assert (SCORES, "model.shop.customer_segments") in edges(shown)
    assert shown["colours"][SCORES] != shown["colours"]["model.shop.customers"]


def test_the_sql_server_task_s_table_is_upstream_of_a_dbt_model(visit: Any) -> None:
    shown = graph(visit.open(focused("+stg_suppliers")))
    assert ("model.python_tasks.erp_suppliers", "model.shop.stg_suppliers") in edges(shown)
    assert any(target == "model.python_tasks.erp_suppliers" for _, target in edges(shown))


def test_the_full_graph_has_all_nodes_and_the_tags_drop_down_filters_them(visit: Any) -> None:
    page = visit.open("dbt/index.html#!/overview?g_v=1")
    assert {PROMOTED, NEW, UNTOUCHED, "model.shop.customers"} <= set(graph(page)["nodes"])
    menu = page.locator("[data-form-type=tags]")
    menu.locator("select").click()
    menu.get_by_text("Select All").click()
    menu.get_by_text("python_task", exact=True).click()
    page.get_by_text("Update Graph").click()
    page.wait_for_function(f"() => !({_GRAPH})().nodes.includes('model.shop.customers')")
    shown = graph(page)["nodes"]
    assert {SCORES, "model.python_tasks.erp_products"} <= set(shown)
    assert all("python_tasks" in node for node in shown)


def test_selecting_by_tag_shows_only_what_python_tasks_wrote(visit: Any) -> None:
    shown = graph(visit.open(focused("tag:python_task")))
    assert SCORES in shown["nodes"]
    assert "model.shop.customers" not in shown["nodes"]


def test_a_promoted_source_shows_what_it_depends_on(visit: Any) -> None:
    page = visit.open(f"dbt/index.html#!/model/{SCORES}")
    expect(page.get_by_role("heading", name="Depends On")).to_be_visible()
    parent = page.locator("a[href='#!/model/model.shop.customers']:visible")
    expect(parent.first).to_have_text("customers")


def test_an_old_link_to_a_source_redirects_to_the_model(visit: Any) -> None:
    page = visit.open("dbt/index.html#!/source/source.shop.ml.customer_scores")
    page.wait_for_url(f"**/dbt/index.html#!/model/{SCORES}*")
    expect(page.get_by_role("heading", name="ml_customer_scores").first).to_be_visible()


@for_each("selector", ["source:ml+", "source:ml.customer_scores+", "source:ml.*+"], quick=1)
def test_a_selector_of_a_source_finds_the_model_that_it_became(visit: Any, selector: str) -> None:
    shown = graph(visit.open(focused(selector)))
    assert (SCORES, "model.shop.customer_segments") in edges(shown)


def test_texts_without_markup_show_none_and_a_link_leads_to_the_catalog(visit: Any) -> None:
    page = visit.open(f"dbt/index.html#!/model/{SCORES}")
    shown = page.locator(".column-row").all_inner_texts()
    assert any("From " in text for text in shown)
    assert not any("`" in text or "](" in text for text in shown)
    page.get_by_role("link", name="Catalog page").first.click()
    page.wait_for_url("**/datasets/spark/ml/customer_scores/**")


def test_the_screenshot_of_the_readme_shows_the_lineage(
    visit: Any, tmp_path: Path, root: Path
) -> None:
    """Writes `build/lineage.png`: copy it to docs/ when the page changes."""
    visit.page.set_viewport_size({"width": 1300, "height": 520})
    page = visit.open(focused("+customer_segments+1"))
    graph(page)
    page.wait_for_timeout(1500)
    picture = tmp_path / "lineage.png"
    page.screenshot(path=picture)
    assert picture.stat().st_size > 20_000
    shutil.copy(picture, root / "build" / "lineage.png")


PROMOTED, NEW, UNTOUCHED = SCORES, "model.python_tasks.raw_returns", "model.shop.orders"


@for_each(
    "node, tabs",
    [
        (
            PROMOTED,
            {
                "Details": "task:score_customers",
                "Description": "score_customers",
                "Columns": "customer_id",
                "Referenced By": "customer_segments",
                "Depends On": "customers",
                "Code": "Source",
            },
        ),
        (
            NEW,
            {
                "Details": "task:rebuild_returns",
                "Description": "rebuild_returns",
                "Columns": "order_id",
                "Depends On": "landing_returns",
                "Code": "Source",
            },
        ),
        (
            UNTOUCHED,
            {
                "Details": "finance",
                "Description": "The one place for revenue",
                "Columns": "order_amount_eur",
                "Referenced By": "customers",
                "Depends On": "stg_payments",
                "Code": "inner join rates",
            },
        ),
    ],
    ids=["promoted", "new", "untouched"],
)
def test_each_tab_of_a_node_opens_its_section(visit: Any, node: str, tabs: dict[str, str]) -> None:
    page = visit.open(f"dbt/index.html#!/model/{node}")
    for tab, text in tabs.items():
        page.locator(".nav-tabs").first.get_by_text(tab, exact=True).click()
        anchor = tab.lower().replace(" ", "_")
        page.wait_for_url(f"**#{anchor}")
        expect(page.locator(f"section:has(> #{anchor})")).to_contain_text(text)


def test_the_search_finds_a_node_by_the_name_of_its_task(visit: Any) -> None:
    page = visit.open("dbt/index.html#!/overview")
    page.locator("#search").fill("score_customers")
    page.get_by_role("heading", name="ml_customer_scores").click()
    page.wait_for_url(f"**#!/model/{SCORES}*")


@for_each(
    "tab, folders, name",
    [
        ("Project", ["python_tasks", "spark", "score_customers"], "ml_customer_scores"),
        ("Database", ["null", "ml"], "customer_scores"),
        ("Group", ["finance"], "stg_exchange_rates (protected)"),
    ],
)
def test_a_tree_leads_to_its_nodes(visit: Any, tab: str, folders: list[str], name: str) -> None:
    page = visit.open("dbt/index.html#!/overview")
    menu = page.locator(".app-menu")
    menu.locator(".switch-label", has_text=tab).click()
    for folder in folders:
        line = menu.locator("a:visible", has_text=re.compile(rf"^\s*{folder}\s*$"))
        line.first.click()
    menu.locator(f"a[title={name!r}]:visible").click()
    expect(page.locator(".app-content h1").first).to_be_visible()


def test_a_node_opens_its_neighbourhood(visit: Any) -> None:
    page = visit.open(f"dbt/index.html#!/model/{SCORES}")
    page.locator("[ng-click='onLauncherClick()']").click()
    assert SCORES in graph(page)["nodes"]


def test_the_page_works_from_a_file(browser: Browser, site: Path) -> None:
    page = browser.new_page()
    faults: list[str] = []
    page.on("console", lambda message: message.type == "error" and faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request",
        lambda request: request.url.startswith(("file:", "data:")) or faults.append(request.url),
    )
    page.goto(f"{(site / 'dbt' / 'index.html').as_uri()}#!/source/source.shop.ml.customer_scores")
    page.wait_for_url(f"**#!/model/{SCORES}*")
    expect(page.get_by_role("heading", name="ml_customer_scores").first).to_be_visible()
    page.get_by_role("link", name="Catalog page").first.click()
    page.wait_for_url("**/datasets/spark/ml/customer_scores/index.html")
    page.close()
    assert faults == []


def test_the_browser_can_show_the_favicon(visit: Any, root: Path) -> None:
    read = artifacts.read(root / "build" / "demo" / "target")
    grafted = graft(read, Lineage(), GraftOptions("spark"))
    content = docs.page(grafted, docs.DocsPageSettings("Shop", root / "site/images/favicon.svg"))
    visit.page.route(
        "**/dbt/favicon.html",
        lambda route: route.fulfill(body=content, content_type="text/html; charset=utf-8"),
    )
    page = visit.open("dbt/favicon.html#!/overview")
    shown = page.evaluate(
        """() => new Promise((done) => {
          const icons = document.querySelectorAll("link[rel~=icon]");
          const image = new Image();
          image.onload = () => done([icons.length, image.width > 0]);
          image.onerror = () => done([icons.length, false]);
          image.src = icons[0].href;
        })"""
    )
    assert shown == [1, True]


def test_a_neighbourhood_of_two_columns_of_rungs_is_found_node_by_node(visit: Any) -> None:
    """dbt's own code follows every path: 2^60 of them here, so it would never finish."""
    page = visit.open("dbt/index.html#!/overview")
    found = page.evaluate(
        """() => {
          const graph = angular.element(document.documentElement).injector().get("graph");
          const selector = angular.element(document.documentElement).injector()
            .get("selectorService");
          const dag = new graph.graph.pristine.dag.constructor({ directed: true });
          const nodes = {};
          for (let rung = 0; rung < 60; rung++) {
            for (const side of ["left", "right"]) {
              const id = `${side}_${rung}`;
              nodes[id] = { data: { unique_id: id, name: id, fqn: ["p", id], tags: [],
                                    resource_type: "model", version: null, package_name: "p" } };
              dag.setNode(id);
              for (const below of rung ? [`left_${rung - 1}`, `right_${rung - 1}`] : []) {
                dag.setEdge(below, id);
              }
            }
          }
          const selected = (include) => selector.selectNodes(dag, nodes, {
            include, exclude: "", packages: ["p"], tags: [null], resource_types: ["model"],
          }).selected.length;
          return [selected("+left_30+"), selected("1+left_30+1"), selected("2+left_30")];
        }"""
    )
    assert found == [119, 5, 5]
