"""The page of sensitive columns, and the marks on the pages of tables."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import DeclaredLabel, privacy_labels
from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Page, environment, render
from dbt_graft.catalog.privacy_page import privacy_page
from dbt_graft.catalog.settings import SiteExtras
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage, Task
from tests.analysis.impact.test_answer import EDGES, FLOWS, table
from tests.catalog.html_reader import HtmlReader
from tests.notation import column_edge


def index(label: str = "pii", column: str = "id") -> Index:
    """`orders.id` is labelled; it goes into `clean`, and hashed into `hashed`."""
    labels = privacy_labels(
        ImpactGraph(EDGES, FLOWS),
        [DeclaredLabel(table("orders"), column, Classification[label.upper()], "dbt")],
    )
    tasks = {flow.task: Task(flow.task) for flow in FLOWS}
    lineage = Lineage(tasks=tasks, column_edges=tuple(EDGES), flows=tuple(FLOWS))
    return Index(DescribedLineage(lineage), extras=SiteExtras(privacy=labels))


def html(page: Page) -> str:
    return render(page, environment(design_folder() / "templates"))


def text(page: Page) -> str:
    return " ".join(HtmlReader(html(page)).text.split())


def test_it_lists_columns_with_the_way_of_their_values() -> None:
    page = privacy_page(index())
    assert page is not None
    [(first, found)] = page.columns.items()
    assert first == (table("orders"), "id")
    assert [(one.dataset.name, one.source, one.masked) for one in found] == [
        ("orders", "dbt", ""),
        ("clean", "", ""),
        ("hashed", "", "hashed"),
    ]
    assert "pii, hashed" in text(page)
    assert "hash_ids" in text(page)


def test_a_column_of_several_labelled_ones_names_all_of_them() -> None:
    names, orders = ("first", "last"), table("orders")
    edges = [column_edge(table("clean"), "name", orders, name) for name in names]
    declared = [DeclaredLabel(orders, name, Classification.PII, "dbt") for name in names]
    labels = privacy_labels(ImpactGraph(edges, ()), declared)
    lineage = Lineage(column_edges=tuple(edges))
    made = Index(DescribedLineage(lineage), extras=SiteExtras(privacy=labels))
    page = privacy_page(made)
    assert page is not None
    assert "also from orders.last" in text(page)
    assert "pii from orders.first, orders.last" in text(dataset_page(made, table("clean")))


def test_what_is_not_sensitive_is_not_on_it() -> None:
    page = privacy_page(index("internal"))
    assert page is not None
    assert "None is labelled so." in text(page)


def test_without_labels_there_is_no_page() -> None:
    assert privacy_page(Index(DescribedLineage(Lineage()))) is None


@pytest.mark.parametrize(
    ("dataset", "shown"),
    [("clean", "pii from orders.id"), ("hashed", "pii from orders.id"), ("mart", "")],
)
def test_a_table_marks_columns_that_sensitive_values_flow_into(dataset: str, shown: str) -> None:
    found = text(dataset_page(index(), DatasetId("db", dataset)))
    assert ("pii from" in found) == bool(shown)
    assert shown in found


def test_names_of_columns_are_escaped() -> None:
    labels = privacy_labels(
        ImpactGraph(EDGES, FLOWS),
        [DeclaredLabel(table("orders"), "<b>x</b>", Classification.PII, "<i>dbt</i>")],
    )
    page = privacy_page(
        Index(DescribedLineage(Lineage(flows=tuple(FLOWS))), extras=SiteExtras(privacy=labels))
    )
    assert page is not None
    assert "<b>" not in html(page)
    assert "<i>" not in html(page)
