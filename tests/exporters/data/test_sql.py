"""Queries: what the views answer, and what a query may not do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.analysis.checks.contracts import ContractMatches
from dbt_graft.exporters.data.sql import QueryError, answer
from dbt_graft.exporters.data.view_data import ProjectAnswers, ViewData
from dbt_graft.exporters.data.views import VIEWS
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import DataPosition
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Dataset, Direction
from tests.cases import for_each
from tests.exporters.data.described import described

NO_ANSWERS = ProjectAnswers(
    runs=Lineage,
    findings=tuple,
    quality=lambda: pytest.fail("it is not asked for"),
    labels=lambda: pytest.fail("it is not asked for"),
    written_labels=tuple,
    contracts=ContractMatches,
    promises=tuple,
)


def rows(query: str, lineage: DescribedLineage | None = None) -> list[tuple[Any, ...]]:
    with answer(ViewData(lineage or described()), query) as readers:
        return [tuple(row.values()) for row in readers.read_all().to_pylist()]


@for_each(
    "query, expected",
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
            "select task, missing, reason from gaps",
            [
                ("load_orders", "datasets", "dynamic SQL (EXEC (@s))"),
                ("load_orders", "columns", "columns: a recursive query"),
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
        ("from upstream_of('weekly') limit 1", [("spark/mart.daily", 1)]),
        ("from downstream_of('spark/mart.weekly')", []),
        ("from downstream_of(null)", []),
        (
            "select distinct up.dataset, distance from consumer_reads, upstream_of(dataset) up "
            "where distance = 1 order by all",
            [("spark/mart.daily", 1), ("spark/raw.orders", 1)],
        ),
    ],
)
def test_a_function_walks_the_edges(query: str, expected: list[tuple[str, int]]) -> None:
    assert rows(query) == expected


@for_each(
    "query, problem, remedy",
    [
        ("from downstream_of('raw.order')", "raw.order: there is no such dataset", "datasets"),
        ("from upstream_of('rders')", "rders: there is no such dataset", "datasets"),
        ("from upstream_of('')", ": there is no such dataset", "datasets"),
        (
            "select count(*) from downstream_of('orders')",
            "orders: 2 datasets have this name: file/landing/orders, spark/raw.orders",
            "datasets",
        ),
        ("from runs_behind('app-9')", "app-9: is no run that read or wrote anything", "runs"),
    ],
)
def test_a_function_has_no_empty_answer_about_what_is_not_there(
    query: str, problem: str, remedy: str
) -> None:
    with pytest.raises(QueryError) as caught:
        rows(query)
    assert caught.value.problem == problem
    assert caught.value.remedy == f'`graft query "from {remedy}"` lists them'


def test_a_name_in_its_own_letters_is_no_other() -> None:
    letters = [DatasetId("s3", name) for name in ("b/Files", "b/files", "c")]
    flows = (Flow(letters[0], letters[2], "t"),)
    lineage = Lineage({dataset: Dataset(dataset) for dataset in letters}, flows=flows)
    described = DescribedLineage(lineage, {}, ())
    assert rows("from downstream_of('s3/b/Files')", described) == [("s3/c", 1)]
    assert rows("from downstream_of('s3/b/files')", described) == []
    with pytest.raises(QueryError, match="2 datasets have this name: s3/b/Files, s3/b/files"):
        rows("from downstream_of('S3/B/FILES')", described)


def test_a_cycle_ends_with_the_shortest_distances() -> None:
    letters = {letter: DatasetId("spark", letter) for letter in "abcde"}
    flows = (Flow(letters[a], letters[b], "t") for a, b in ("ab", "bc", "cd", "db", "ae", "ec"))
    lineage = Lineage({one: Dataset(one) for one in letters.values()}, flows=tuple(flows))
    found = rows("from upstream_of('c')", DescribedLineage(lineage, {}, ()))
    assert found == [("spark/b", 1), ("spark/e", 1), ("spark/a", 2), ("spark/d", 2), ("spark/c", 3)]


@for_each(
    "query, problem",
    [
        ("", "0 statements"),
        ("select 1; select 2", "2 statements"),
        ("selec 1", 'syntax error at or near "selec"'),
        ("from edge", 'Did you mean "edges"'),
        ("insert into edges default values", "INSERT is not a query"),
        ("drop table edges", "DROP is not a query"),
        ("copy (select 1) to 'x.csv'", "COPY is not a query"),
        ("attach 'x.db'", "ATTACH is not a query"),
        ("install httpfs", "LOAD is not a query"),
        ("set threads = 1", "SET is not a query"),
        ("from read_csv('/etc/passwd')", "disabled by configuration"),
        ("from glob('/etc/*')", "disabled by configuration"),
        ("from read_blob('/etc/hostname')", "disabled by configuration"),
        ("from parquet_scan('/tmp/x.parquet')", "disabled by configuration"),
        ("from duckdb_secrets()", "disabled by configuration"),
        ("pragma database_list", "PRAGMA is not a query"),
        ("export database '/tmp/x'", "is not a query"),
        ("from '/etc/passwd'", "does not exist"),
        ("select getenv('HOME')", "does not exist"),
        ("from described", "does not exist"),
    ],
)
def test_a_query_reads_the_views_and_nothing_else(query: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        rows(query)


def test_a_column_whose_name_is_a_word_of_sql_is_to_be_quoted() -> None:
    with pytest.raises(QueryError) as caught:
        rows("select column from columns")
    assert caught.value.remedy == 'write "column" in double quotes: it is a word of SQL, too'
    assert rows('select "column" from columns limit 0') == []


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


# A run: task, id, hour, what it read with its version, what it wrote with its version.
RUNS = (
    ("load", "l1", 1, (), ("raw.a", "5")),
    ("load", "l2", 3, (), ("raw.a", "6")),
    ("rates", "r1", 1, (), ("raw.b", "")),
    ("rates", "r2", 9, (), ("raw.b", "")),
    ("build", "b1", 4, (("raw.a", "5"), ("raw.b", ""), ("raw.c", "")), ("mart.d", "7")),
    ("build", "b2", 5, (("raw.a", "6"), ("raw.b", ""), ("raw.c", "")), ("mart.d", "8")),
    ("report", "p1", 6, (("mart.d", "7"), ("mart.own", "")), ("mart.own", "")),
)


def history_of(runs: Sequence[tuple[str, str, int, Any, Any]]) -> DescribedLineage:
    accesses = []
    for task, run_id, hour, reads, (target, made) in runs:
        at = datetime(2026, 11, 1, hour, tzinfo=UTC)
        sides = [*((name, version, Direction.READ) for name, version in reads)]
        for name, version, direction in (*sides, (target, made, Direction.WRITE)):
            operation = Operation.SELECT if direction is Direction.READ else Operation.INSERT
            position = DataPosition("version", version, version)
            accesses.append(
                Access(
                    *(task, run_id, DatasetId("wh", name), Kind.TABLE, direction, operation, "s"),
                    last_at=at,
                    positions=(position,) if version else (),
                )
            )
    return DescribedLineage(Lineage(history=History(tuple(accesses))), {}, ())


def test_the_runs_behind_a_run_are_found_by_versions_and_else_by_time() -> None:
    """Inputs that no run wrote have a row, too; those that the run itself wrote have none."""
    assert rows("from runs_behind('p1')", history_of(RUNS)) == [
        (1, "wh/mart.d", "7", "build", "b1", "version"),
        (2, "wh/raw.a", "5", "load", "l1", "version"),
        (2, "wh/raw.b", None, "rates", "r1", "time"),
        (2, "wh/raw.c", None, None, None, None),
    ]


def test_the_argument_of_a_function_is_the_column_of_who_asks() -> None:
    each = "from (from accesses where run_id = 'p1' limit 1), runs_behind(run_id) select count(*)"
    (known,) = rows("from runs_behind('p1') select count(*)", history_of(RUNS))
    assert rows(each, history_of(RUNS)) == [known]


def test_the_runs_behind_a_version_are_those_behind_its_run() -> None:
    query = (
        "from runs_behind((select run_id from accesses where dataset = 'wh/mart.d' "
        "and version = '8' and direction = 'write')) select run_id where run_id is not null"
    )
    assert sorted(rows(query, history_of(RUNS))) == [("l2",), ("r1",)]


def test_who_reads_a_view_reads_what_it_is_made_of() -> None:
    runs = (
        ("load", "l1", 1, (), ("raw.a", "5")),
        ("report", "p1", 6, (("outer", ""),), ("mail", "")),
    )
    history = history_of(runs).lineage
    views = {DatasetId("wh", name): Kind.VIEW for name in ("outer", "inner")}
    lineage = replace(
        history,
        datasets={dataset: Dataset(dataset, kind) for dataset, kind in views.items()},
        flows=tuple(
            Flow(DatasetId("wh", source), DatasetId("wh", view), view, definition=made_by)
            for source, view, made_by in (
                ("raw.a", "inner", DefinitionKind.DBT),
                ("inner", "outer", DefinitionKind.VIEW),
            )
        ),
    )
    behind = rows("from runs_behind('p1')", DescribedLineage(lineage, {}, ()))
    assert behind == [(1, "wh/raw.a", None, "load", "l1", "time")]


def test_runs_that_read_from_each_other_end() -> None:
    circle = (
        ("a", "a1", 1, (("y", "1"),), ("x", "1")),
        ("b", "b1", 2, (("x", "1"),), ("y", "1")),
    )
    assert rows("from runs_behind('b1') select run_id", history_of(circle)) == [("a1",), ("b1",)]


def test_a_view_is_made_only_when_the_query_names_it() -> None:
    reads = []

    def read_runs() -> Lineage:
        reads.append(1)
        return described().lineage

    data = ViewData(described(), replace(NO_ANSWERS, runs=read_runs))
    for query, expected in (
        ("select runs from tasks", 0),
        ("with x as (select 1 as runs) from x", 0),
        ("select * from Runs", 1),
        ("pivot runs on status using count(*)", 2),
        ("from runs_behind((select max(run_id) from accesses))", 3),
    ):
        with answer(data, query) as batches:
            batches.read_all()
        assert len(reads) == expected, query
