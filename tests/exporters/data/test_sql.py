"""Queries: what the views answer, and what a query may not do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_graft.exporters.data.sql import QueryError, answer
from dbt_graft.exporters.data.views import VIEWS
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import DataPosition
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Dataset, Direction
from tests.exporters.data.described import described


def rows(query: str, lineage: DescribedLineage | None = None) -> list[tuple[Any, ...]]:
    with answer(lineage or described(), query) as found:
        return [tuple(row.values()) for row in found.read_all().to_pylist()]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "select dataset, kind, role, writers from datasets order by 1",
            [
                ("file/landing/orders", "path", None, []),
                ("spark/mart.daily", "table", "model", []),
                ("spark/mart.weekly", "view", None, []),
                ("spark/raw.orders", "table", None, ["load_orders"]),
            ],
        ),
        ("select name from datasets where dropped_at is not null", [("mart.weekly",)]),
        ("select owner, tags, page from datasets where node_id = 'model.shop.daily'", None),
        (
            'select "column", position, type, description, sensitivity from columns '
            "where dataset = 'spark/mart.daily' order by position",
            [("day", 1, "date", None, None), ("Total", 2, "double", "The sum.", "confidential")],
        ),
        (
            "select task, engines, owner, schedule, tags, runs, last_status from tasks",
            [("load_orders", ["spark"], "sales", "@daily", ["night"], 4, "failed")],
        ),
        (
            "select run_id, status, seconds, error, same_runs from runs order by 1",
            [("app-1", "ok", None, None, 3), ("app-2", "failed", 1800.0, "no table <name>", 1)],
        ),
        (
            "select run_id, dataset, direction, operation, status, dates, version_kind, version "
            "from accesses order by direction",
            [
                (
                    *("app-1", "file/landing/orders", "read", "SELECT", "ok"),
                    *("ds from 2026-11-01 (predicate)", "delta version", "3"),
                ),
                (
                    *("app-1", "spark/raw.orders", "write", "INSERT", "ok"),
                    *("ds from 2026-11-01 (predicate)", "delta version", "7"),
                ),
            ],
        ),
        (
            "select dataset, direction, operations, statements, rows from usages order by 2",
            [
                ("file/landing/orders", "read", [], 4, None),
                ("spark/raw.orders", "write", ["INSERT"], 4, 120),
            ],
        ),
        (
            "select to_dataset, made_by, evidence, through_memory from edges order by 1",
            [
                ("spark/mart.daily", "dbt", "declared", False),
                ("spark/mart.weekly", "view", "observed", False),
                ("spark/raw.orders", "task", "observed", True),
            ],
        ),
        (
            "select from_column, to_column, type, subtype from column_edges",
            [("amount", "Total", "DIRECT", "AGGREGATION")],
        ),
        (
            'select dataset, test, "column", status, failures from results order by test',
            [
                ("spark/mart.daily", "unique", "day", "failed", 7),
                ("spark/mart.daily", None, None, "ok", None),
            ],
        ),
        (
            "select consumer, kind, dataset from consumers join consumer_reads using (consumer)",
            [
                ("board", "dashboard", "spark/mart.daily"),
                ("board", "dashboard", "spark/mart.weekly"),
            ],
        ),
        ("select strftime(last_at, '%H:%M') from usages where direction = 'write'", [("06:30",)]),
        ("from edges a join edges b on a.to_dataset = b.from_dataset select count(*)", [(2,)]),
        ("select count(*) from (pivot edges on evidence using count(*))", None),
    ],
)
def test_a_view_answers(query: str, expected: list[tuple[Any, ...]] | None) -> None:
    found = rows(query)
    assert found
    assert expected is None or found == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "from downstream_of('RAW.orders')",
            [("spark/mart.daily", 1), ("spark/mart.weekly", 2)],
        ),
        (
            "from upstream_of('spark/mart.weekly')",
            [("spark/mart.daily", 1), ("spark/raw.orders", 2), ("file/landing/orders", 3)],
        ),
        ("from downstream_of('spark/mart.weekly')", []),
        ("from downstream_of('nobody')", []),
    ],
)
def test_a_function_walks_the_edges(query: str, expected: list[tuple[str, int]]) -> None:
    assert rows(query) == expected


def test_a_cycle_ends_with_the_shortest_distances() -> None:
    letters = {letter: DatasetId("spark", letter) for letter in "abcde"}
    flows = (Flow(letters[a], letters[b], "t") for a, b in ("ab", "bc", "cd", "db", "ae", "ec"))
    lineage = Lineage({one: Dataset(one) for one in letters.values()}, flows=tuple(flows))
    found = rows("from upstream_of('c')", DescribedLineage(lineage, {}, ()))
    assert found == [("spark/b", 1), ("spark/e", 1), ("spark/a", 2), ("spark/d", 2), ("spark/c", 3)]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("", "0 statements"),
        ("select 1; select 2", "2 statements"),
        ("selec 1", 'syntax error at or near "selec"'),
        ("from edge", 'Did you mean "edges"'),
        ("insert into edges default values", "INSERT is no query"),
        ("drop table edges", "DROP is no query"),
        ("copy (select 1) to 'x.csv'", "COPY is no query"),
        ("attach 'x.db'", "ATTACH is no query"),
        ("install httpfs", "LOAD is no query"),
        ("set threads = 1", "SET is no query"),
        ("from read_csv('/etc/passwd')", "disabled by configuration"),
        ("from glob('/etc/*')", "disabled by configuration"),
        ("from read_blob('/etc/hostname')", "disabled by configuration"),
        ("from parquet_scan('/tmp/x.parquet')", "disabled by configuration"),
        ("from duckdb_secrets()", "disabled by configuration"),
        ("pragma database_list", "PRAGMA is no query"),
        ("export database '/tmp/x'", "is no query"),
        ("from '/etc/passwd'", "does not exist"),
        ("select getenv('HOME')", "does not exist"),
        ("from described", "does not exist"),
    ],
)
def test_a_query_reads_the_views_and_nothing_else(query: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        rows(query)


def test_nothing_is_written_for_want_of_memory() -> None:
    assert rows("select current_setting('temp_directory')") == [("",)]


def test_an_empty_lineage_has_empty_views() -> None:
    empty = DescribedLineage(Lineage(), {}, ())
    assert {view.name: rows(f"from {view.name}", empty) for view in VIEWS} == {
        view.name: [] for view in VIEWS
    }


def test_an_error_while_rows_are_read_is_that_of_the_query(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="Could not convert"):
        rows("select dataset::integer from datasets")


def test_the_chain_behind_a_version_is_found_over_several_steps(root: Path) -> None:
    """The query of the documentation."""
    text = (root / "docs/openlineage.md").read_text("utf-8")
    query = text.partition("### Which versions is a version made of?")[2].split("```")[1]
    steps = (("load", "1", "files", "3", "raw.a", "5"), ("build", "2", "raw.a", "5", "mart.b", "7"))
    others = (
        ("build", "0", "raw.a", "4", "mart.b", "6"),
        ("load", "9", "files", "3", "raw.z", "5"),
    )
    accesses = []
    for task, run_id, source, seen, target, made in (*steps, *others):
        for name, version, operation in ((source, seen, "SELECT"), (target, made, "INSERT")):
            direction = Direction.READ if operation == "SELECT" else Direction.WRITE
            accesses.append(
                Access(
                    *(task, run_id, DatasetId("wh", name), Kind.TABLE, direction),
                    *(Operation(operation), "s"),
                    positions=(DataPosition("version", version, version),),
                )
            )
    lineage = DescribedLineage(Lineage(history=History(tuple(accesses))), {}, ())
    query = query.removeprefix("sql").replace("spark/mart.daily", "wh/mart.b")
    assert [row[:2] for row in rows(query, lineage)] == [("wh/mart.b", "7"), ("wh/raw.a", "5")]
