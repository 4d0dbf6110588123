"""Views that only pass a table on -> other names of the table."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.pass_through import passes_on
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.names import NameReason
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    Dataset,
    Direction,
    Outcome,
    Records,
    Run,
    Shape,
)
from dbt_graft.lineage.settings import LineageSettings, OneNameRules
from tests import notation
from tests.cases import for_each

AT = datetime(2026, 11, 20, tzinfo=UTC)
TYPED = (Column("id", "int"), Column("amount", "int"))


def dataset(name: str) -> DatasetId:
    return DatasetId("mssql://crm:1433", f"Shop.dbo.{name}")


def access(
    task: str, name: str, operation: Operation, shape: str = "s", *, reads: bool = False
) -> Access:
    direction = Direction.READ if reads else Direction.WRITE
    kind = Kind.VIEW if name.startswith("v_") else Kind.TABLE
    known = {"direction": direction, "kind": kind, "shape_id": shape}
    return notation.access(operation, dataset(name), at=AT, task=task, run_id="r", **known)


def view(name: str, table: str, query: str = "SELECT * FROM t") -> Records:
    """A view in a catalog: a task of its own."""
    shape = Shape(name, "tsql", f"CREATE VIEW dbo.{name} AS {query}", "sqlglot", Outcome.PARSED)
    task = f"view {name} {table}"
    return Records(
        (
            access(task, name, Operation.CREATE_VIEW, name),
            access(task, table, Operation.CREATE_VIEW, name, reads=True),
        ),
        (Run("r", task, DefinitionKind.VIEW),),
        {name: shape},
        (Dataset(dataset(name), Kind.VIEW, TYPED),),
    )


def together(*records: Records) -> Records:
    return Records(
        tuple(a for record in records for a in record.accesses),
        tuple(run for record in records for run in record.runs),
        {key: shape for record in records for key, shape in record.shapes.items()},
        tuple(d for record in records for d in record.datasets),
    )


def load(source: str, target: str) -> Records:
    return Records(
        (
            access("load", source, Operation.INSERT, "load", reads=True),
            access("load", target, Operation.INSERT, "load"),
        )
    )


def flows(records: Records, rules: OneNameRules | None = None) -> list[str]:
    settings = LineageSettings(one_name=rules or OneNameRules())
    found = build(records, settings=settings).flows
    return [f"{flow.source.name[9:]} -> {flow.target.name[9:]}" for flow in found]


@for_each(
    "text, expected",
    [
        ("CREATE VIEW dbo.v AS SELECT * FROM dbo.t", True),
        ("create or alter view [dbo].[v x] as select * from [Shop]..[t x];", True),
        ("CREATE OR REPLACE VIEW `raw`.`v` AS SELECT o.* FROM raw.t AS o", True),
        ("CREATE VIEW v WITH SCHEMABINDING AS SELECT id, amount FROM dbo.t", True),
        ("CREATE VIEW v AS SELECT t.[amount], t.ID FROM dbo.t WITH (NOLOCK)", True),
        ("CREATE VIEW v AS SELECT * FROM t o", True),
        ("CREATE VIEW v AS SELECT id FROM t", False),
        ("CREATE VIEW v AS SELECT id, amount AS paid FROM t", False),
        ("CREATE VIEW v AS SELECT id, amount * ? FROM t", False),
        ("CREATE VIEW v (a, b) AS SELECT * FROM t", False),
        ("CREATE VIEW v AS SELECT *, id FROM t", False),
        ("CREATE VIEW v AS SELECT DISTINCT * FROM t", False),
        ("CREATE VIEW v AS SELECT TOP ? * FROM t", False),
        ("CREATE VIEW v AS SELECT * FROM t LIMIT ?", False),
        ("CREATE VIEW v AS SELECT * FROM t TABLESAMPLE (? PERCENT)", False),
        ("CREATE VIEW v AS SELECT * FROM t WHERE id > ?", False),
        ("CREATE VIEW v AS SELECT * FROM t WHERE d = (SELECT MAX(d) FROM t)", False),
        ("CREATE VIEW v AS SELECT * FROM t, u", False),
        ("CREATE VIEW v AS SELECT * FROM t JOIN u ON t.id = u.id", False),
        ("CREATE VIEW v AS SELECT * FROM t UNION ALL SELECT * FROM t", False),
        ("CREATE VIEW v AS SELECT id, amount FROM t GROUP BY id, amount", False),
        ("CREATE VIEW v AS SELECT * FROM OPENROWSET(?)", False),
        ("CREATE TABLE v AS SELECT * FROM t", False),
        ("SELECT * FROM t", False),
    ],
)
def test_definitions(text: str, expected: bool) -> None:
    assert passes_on(text, TYPED) is expected


def test_a_list_of_columns_counts_only_by_a_catalog() -> None:
    text = "CREATE VIEW v AS SELECT id, amount FROM t"
    assert not passes_on(text)
    assert not passes_on(text, (Column("id"), Column("amount")))
    assert not passes_on(text, (*TYPED, Column("day", "date")))


def test_lineage_goes_through_a_view_and_the_table_lists_it() -> None:
    records = together(view("v_orders", "orders"), load("v_orders", "weekly"))
    lineage = build(records)
    assert flows(records) == ["orders -> weekly"]
    assert lineage.datasets[dataset("orders")].kind is Kind.TABLE
    assert lineage.names.aliases == {dataset("orders"): (dataset("v_orders"),)}
    assert lineage.names.reasons == {dataset("v_orders"): NameReason.VIEW}
    assert not lineage.definitions


def test_views_on_views_lead_to_the_table() -> None:
    records = together(view("v_a", "orders"), view("v_b", "v_a"), load("v_b", "weekly"))
    assert flows(records) == ["orders -> weekly"]


@pytest.mark.parametrize(
    ("views", "rules"),
    [
        ([view("v_orders", "orders")], OneNameRules(pass_through_views=False)),
        ([view("v_orders", "orders")], OneNameRules(apart={dataset("v_orders")})),
        ([view("v_orders", "orders", "SELECT * FROM t WHERE id > ?")], OneNameRules()),
        ([view("v_orders", "orders"), view("v_orders", "returns")], OneNameRules()),
        ([view("v_orders", "v_b"), view("v_b", "v_orders")], OneNameRules()),
    ],
    ids=["off", "known to dbt", "a condition", "two tables by turns", "in circles"],
)
def test_views_of_their_own(views: list[Records], rules: OneNameRules) -> None:
    found = flows(together(*views, load("v_orders", "weekly")), rules)
    assert "v_orders -> weekly" in found


def test_the_drop_of_a_view_drops_no_table() -> None:
    dropped = Records((access("load", "v_orders", Operation.DROP),))
    lineage = build(together(view("v_orders", "orders"), load("v_orders", "weekly"), dropped))
    assert lineage.datasets[dataset("orders")].dropped_at is None
