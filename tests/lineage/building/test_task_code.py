"""The code of a task and its log: what both say is verified, what one of them has is marked so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.collectors.python_code.script import (
    Medium,
    Script,
    ScriptEdge,
    ScriptGap,
    ScriptSource,
    ScriptTarget,
)
from dbt_graft.collectors.python_code.task_code import compose_code, task_code
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.code import CodePlace
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Evidence,
    Masking,
    Records,
    Run,
    Shape,
    Status,
    Subtype,
)
from dbt_graft.lineage.settings import LineageSettings

_START = datetime(2026, 11, 2, 3, tzinfo=UTC)
_READ, _WRITE = CodePlace("tasks/load.py", 3), CodePlace("tasks/load.py", 9)


def _dataset(name: Name) -> DatasetId:
    parts = [*("Shop", "dbo")[: 3 - len(name)], *name] if name else []
    return DatasetId("mssql://sql01:1433", ".".join(parts)) if name else MEMORY


def log_of(*texts: str) -> Records:
    """The records of a run of `load` that sent these statements."""
    accesses, edges, shapes = [], [], {}
    for number, text in enumerate(texts):
        at = _START + timedelta(minutes=number)
        for shape in parse(text, Dialect.TSQL):
            shapes[shape.shape_id] = Shape(
                shape.shape_id, shape.dialect, shape.text, shape.parser, shape.outcome
            )
            accesses += [
                Access(
                    "load",
                    "load-1",
                    _dataset(access.name),
                    access.kind,
                    access.direction,
                    access.operation,
                    shape.shape_id,
                    first_at=at,
                    last_at=at,
                )
                for access in shape.accesses
            ]
            edges += [
                ColumnEdge(
                    *("load", _dataset(edge.table), edge.column, _dataset(edge.from_table)),
                    *(edge.from_column, edge.subtype.type, edge.subtype, False, shape.shape_id),
                    evidence=Evidence.OBSERVED if edge.from_table else Evidence.INFERRED,
                )
                for edge in shape.column_edges
            ]
    runs = (Run("load-1", "load", "sqlserver", _START, status=Status.OK),)
    return Records(tuple(accesses), runs, shapes, column_edges=tuple(edges))


def _script(
    sources: list[str],
    targets: list[tuple[str, str]],
    edges: list[str] = (),  # type: ignore[assignment]
    gaps: tuple[ScriptGap, ...] = (),
) -> Script:
    """A script: queries; tables with columns; edges as `column <- source.column` with a kind."""
    return Script(
        tuple(ScriptSource(_READ, Medium.STATEMENT, text) for text in sources),
        tuple(
            ScriptTarget(_WRITE, Medium.TABLE, name, tuple(columns.split()), "*" in columns)
            for name, columns in targets
        ),
        tuple(_edge(edge) for edge in edges),
        gaps,
    )


def _edge(text: str) -> ScriptEdge:
    """`total <- 0.price TRANSFORMATION HASH`; `* <- 0.* IDENTITY without total`; `1:a <- 1.b …`"""
    to, _, rest = text.partition(" <- ")
    target, _, to = to.rpartition(":")
    start, kind, *more = rest.split()
    source, _, column = start.partition(".")
    without = tuple(more[1:]) if more[:1] == ["without"] else ()
    masked = Masking(more[0]) if more and not without else Masking.NONE
    line = CodePlace("tasks/load.py", 5)
    return ScriptEdge(
        int(target or 0), to, int(source), column, Subtype(kind), line, masked, without
    )


def _lineage(records: Records, script: Script) -> Lineage:
    code = compose_code("tasks/load.py", script)
    return build(records, settings=LineageSettings(codes={"load": code}))


def _lines(lineage: Lineage) -> list[str]:
    return [
        f"{edge.to_dataset.short}.{edge.to_column} <- {edge.from_dataset.short}.{edge.from_column}"
        f" {edge.subtype} {edge.evidence}"
        for edge in lineage.column_edges
    ]


_INSERT = "INSERT INTO dbo.totals (order_id, total) VALUES (?, ?)"
_SELECT = "SELECT order_id, price, qty FROM dbo.orders"


@pytest.mark.parametrize(
    ("log", "script", "lines"),
    [
        pytest.param(
            [_SELECT, _INSERT],
            _script(
                [_SELECT],
                [("dbo.totals", "order_id total")],
                [
                    "order_id <- 0.order_id IDENTITY",
                    "total <- 0.price TRANSFORMATION",
                    "total <- 0.qty TRANSFORMATION",
                ],
            ),
            [
                "dbo.totals.order_id <- dbo.orders.order_id IDENTITY code",
                "dbo.totals.total <- dbo.orders.price TRANSFORMATION code",
                "dbo.totals.total <- dbo.orders.qty TRANSFORMATION code",
            ],
            id="a column that is made of others",
        ),
        pytest.param(
            ["SELECT order_id, total FROM dbo.orders", _INSERT],
            _script(
                ["SELECT order_id, total FROM dbo.orders"],
                [("dbo.totals", "order_id total")],
                ["order_id <- 0.order_id IDENTITY"],
            ),
            ["dbo.totals.order_id <- dbo.orders.order_id IDENTITY code"],
            id="a constant under the name of a column that is read",
        ),
        pytest.param(
            ["SELECT order_id, qty AS total FROM dbo.orders WHERE state = 'x'", _INSERT],
            _script(
                ["SELECT order_id, qty AS total FROM dbo.orders WHERE state = 'y'"],
                [("dbo.totals", "*")],
                ["* <- 0.* IDENTITY"],
            ),
            [
                "dbo.totals.* <- dbo.orders.state FILTER code",
                "dbo.totals.order_id <- dbo.orders.order_id IDENTITY code",
                "dbo.totals.total <- dbo.orders.qty IDENTITY code",
            ],
            id="all columns of a query, and what decides on its rows",
        ),
        pytest.param(
            ["SELECT * FROM dbo.orders", _INSERT],
            _script(
                ["SELECT * FROM dbo.orders"],
                [("dbo.totals", "total *")],
                ["* <- 0.* IDENTITY without total", "total <- 0.price TRANSFORMATION"],
            ),
            [
                "dbo.totals.order_id <- dbo.orders.order_id IDENTITY code",
                "dbo.totals.total <- dbo.orders.price TRANSFORMATION code",
            ],
            id="columns that only the log names",
        ),
        pytest.param(
            ["SELECT order_id, email FROM dbo.orders", "INSERT INTO dbo.t (h) VALUES (?)"],
            _script(
                ["SELECT order_id, email FROM dbo.orders"],
                [("dbo.t", "h")],
                ["h <- 0.email TRANSFORMATION HASH"],
            ),
            ["dbo.t.h <- dbo.orders.email TRANSFORMATION code"],
            id="a hash",
        ),
        pytest.param(
            [_SELECT, _INSERT],
            _script(
                [_SELECT],
                [("dbo.totals", "order_id total")],
                ["order_id <- 0.order_id IDENTITY"],
                (ScriptGap(CodePlace("tasks/load.py", 5), "opaque", 0, "total"),),
            ),
            ["dbo.totals.order_id <- dbo.orders.order_id IDENTITY code"],
            id="a column behind a gap stays as the log has it",
        ),
        pytest.param(
            [_SELECT, "INSERT INTO dbo.totals (order_id, price) VALUES (?, ?)"],
            _script(
                [_SELECT],
                [("dbo.totals", "order_id")],
                ["order_id <- 0.order_id IDENTITY"],
            ),
            [
                "dbo.totals.order_id <- dbo.orders.order_id IDENTITY code",
                "dbo.totals.price <- dbo.orders.price IDENTITY inferred",
            ],
            id="a column that the code does not write is still inferred",
        ),
        pytest.param(
            [_SELECT],
            _script(
                [_SELECT],
                [("dbo.orders_of_day", "n")],
                ["n <- 0.qty AGGREGATION"],
            ),
            [],
            id="a table that no log has",
        ),
        pytest.param(
            [_SELECT, "DELETE FROM dbo.totals WHERE order_id = 1"],
            _script(
                [_SELECT],
                [("dbo.totals", "n")],
                ["n <- 0.qty AGGREGATION"],
            ),
            [
                "dbo.totals.* <- dbo.orders.order_id FILTER inferred",  # of the DELETE
                "dbo.totals.n <- dbo.orders.qty AGGREGATION declared",
            ],
            id="a write that no run was seen to do",
        ),
        pytest.param(
            [_SELECT, "DELETE FROM dbo.totals", "INSERT INTO dbo.totals VALUES (?, ?)"],
            _script(
                [_SELECT],
                [("dbo.totals", "order_id total")],
                [
                    "order_id <- 0.order_id IDENTITY",
                    "total <- 0.price TRANSFORMATION",
                ],
            ),
            [
                "dbo.totals.order_id <- dbo.orders.order_id IDENTITY code",
                "dbo.totals.total <- dbo.orders.price TRANSFORMATION code",
            ],
            id="a write of which the log shows no column",
        ),
        pytest.param(
            [_SELECT, "INSERT INTO dbo.totals VALUES (?, ?)"],
            _script(
                [_SELECT],
                [("dbo.totals", "*")],
                ["* <- 0.* IDENTITY without qty", "qty <- 0.qty TRANSFORMATION"],
            ),
            [
                "dbo.totals.order_id <- dbo.orders.order_id IDENTITY code",
                "dbo.totals.price <- dbo.orders.price IDENTITY code",
                "dbo.totals.qty <- dbo.orders.qty TRANSFORMATION code",
            ],
            id="all columns of a query but those that it replaces, without the log's columns",
        ),
        pytest.param(
            [
                _SELECT,
                "CREATE TABLE #d (order_id int, total money)",
                "INSERT INTO #d (order_id, total) VALUES (?, ?)",
                "INSERT INTO dbo.totals (order_id, total) SELECT order_id, total FROM #d",
            ],
            _script(
                [_SELECT],
                [("#d", "order_id total")],
                ["order_id <- 0.order_id IDENTITY", "total <- 0.price TRANSFORMATION"],
            ),
            [
                "dbo.totals.order_id <- dbo.orders.order_id IDENTITY code",
                "dbo.totals.total <- dbo.orders.price TRANSFORMATION code",
            ],
            id="a temporary table on the way",
        ),
    ],
)
def test_code_says_which_column_of_memory_is_which(
    log: list[str], script: Script, lines: list[str]
) -> None:
    assert _lines(_lineage(log_of(*log), script)) == lines


@pytest.mark.parametrize(
    ("log", "script", "verified", "problems"),
    [
        (
            [_SELECT, _INSERT],
            _script(
                [_SELECT],
                [("totals", "order_id total")],
                ["order_id <- 0.order_id IDENTITY", "total <- 0.price TRANSFORMATION"],
            ),
            2,
            [],
        ),
        (
            [f"{_SELECT} WHERE qty > 10", _INSERT],
            _script(
                [f"{_SELECT} WHERE qty >= 20"],
                [("totals", "order_id total")],
                ["order_id <- 0.order_id IDENTITY", "total <- 0.price TRANSFORMATION"],
            ),
            2,
            ["3: no run was seen to send this statement as it is here"],
        ),
        (
            [f"{_SELECT} WHERE qty > 10", _INSERT],
            _script(
                [f"{_SELECT}\n    WHERE qty > ?"],
                [("totals", "order_id total")],
                ["order_id <- 0.order_id IDENTITY", "total <- 0.price TRANSFORMATION"],
            ),
            2,
            [],
        ),
        (
            [_SELECT, _INSERT],
            _script([_SELECT], [("totals", "order_id")], ["order_id <- 0.order_id IDENTITY"]),
            1,
            ["9: runs write total, and this code does not"],
        ),
        (
            [_SELECT, "INSERT INTO dbo.totals (order_id) VALUES (?)"],
            _script([_SELECT], [("totals", "order_id day")], ["order_id <- 0.order_id IDENTITY"]),
            1,
            ["9: this code writes day, and no run was seen to"],
        ),
        (
            [_SELECT, _INSERT],
            _script([_SELECT], [("audit", "order_id")], ["order_id <- 0.order_id IDENTITY"]),
            0,
            ["9: no log has audit", "1: runs write it, and this code does not"],
        ),
        (
            ["SELECT a FROM dbo.t", "SELECT a FROM crm.t", _INSERT],
            _script(
                ["SELECT a FROM t"], [("totals", "order_id total")], ["order_id <- 0.a IDENTITY"]
            ),
            2,
            ["3: no run was seen to send this statement as it is here"],
        ),
        (
            ["SELECT a FROM x.t", "SELECT a FROM crm.t", _INSERT],
            _script(
                ["SELECT a FROM t"], [("totals", "order_id total")], ["order_id <- 0.a IDENTITY"]
            ),
            1,
            ["5: t may be one of 2 tables"],
        ),
    ],
)
def test_what_logs_and_code_do_not_both_say_is_a_difference(
    log: list[str], script: Script, verified: int, problems: list[str]
) -> None:
    match = _lineage(log_of(*log), script).codes["load"]

    assert [
        f"{difference.place.line}: {difference.problem}" for difference in match.differences
    ] == problems
    assert match.verified == verified


def test_tables_that_the_code_carries_apart_are_not_connected() -> None:
    log = ["SELECT a FROM dbo.x", "SELECT a FROM dbo.y", "SELECT v FROM dbo.limits"]
    log += ["INSERT INTO dbo.t (a) VALUES (?)", "INSERT INTO dbo.u (a) VALUES (?)"]
    script = _script(
        log[:3], [("dbo.t", "a"), ("dbo.u", "a")], ["a <- 0.a IDENTITY", "1:a <- 1.a IDENTITY"]
    )

    flows = {(f.source.short, f.target.short) for f in _lineage(log_of(*log), script).flows}

    # Of the limits the code does not say what they are for.
    limits = {("dbo.limits", "dbo.t"), ("dbo.limits", "dbo.u")}
    assert flows == {("dbo.x", "dbo.t"), ("dbo.y", "dbo.u")} | limits


def test_a_write_without_columns_in_the_log_is_explained_by_the_code() -> None:
    script = _script([_SELECT], [("totals", "total")], ["total <- 0.price TRANSFORMATION"])

    match = _lineage(log_of(_SELECT, "INSERT INTO dbo.totals VALUES (?)"), script).codes["load"]

    assert (match.verified, match.declared, match.differences) == (1, 0, ())


_DAG = b"""\
import pandas as pd
from airflow.decorators import task

@task
def extract():
    return pd.read_sql("SELECT order_id, price FROM dbo.orders", server)

@task
def load(orders):
    orders["total"] = orders["price"] * 2
    orders[["order_id", "total"]].to_sql("totals", server, schema="dbo")

load(extract())
"""


def test_data_that_another_task_of_the_dag_hands_on_comes_from_what_that_reads() -> None:
    log = log_of("SELECT order_id, price FROM dbo.orders", "INSERT INTO dbo.totals VALUES (?, ?)")
    read, write = (
        replace(a, task="extract", run_id="extract-1") if a.dataset.short == "dbo.orders" else a
        for a in log.accesses
    )
    log = replace(log, accesses=(read, write), column_edges=())
    codes = {name: task_code("dag.py", {"dag.py": _DAG}.get, name) for name in ("extract", "load")}

    lineage = build(log, settings=LineageSettings(codes=codes))

    assert _lines(lineage) == [
        "dbo.totals.order_id <- dbo.orders.order_id IDENTITY declared",
        "dbo.totals.total <- dbo.orders.price TRANSFORMATION declared",
    ]
    assert [(f.task, f.source.short, f.target.short, f.evidence) for f in lineage.flows] == [
        ("load", "dbo.orders", "dbo.totals", Evidence.CODE)
    ]


def test_a_gap_anywhere_leaves_tables_connected() -> None:
    log = ["SELECT a FROM dbo.x", "SELECT a FROM dbo.y"]
    log += ["INSERT INTO dbo.t (a) VALUES (?)", "INSERT INTO dbo.u (a) VALUES (?)"]
    script = _script(
        log[:2],
        [("dbo.t", "a"), ("dbo.u", "a")],
        ["a <- 0.a IDENTITY", "1:a <- 1.a IDENTITY"],
        (ScriptGap(CodePlace("tasks/load.py", 7), "what `share` returns is not known"),),
    )

    assert len(_lineage(log_of(*log), script).flows) == 4


def test_what_a_query_does_not_show_in_full_is_no_constant() -> None:
    unclear = "SELECT a FROM dbo.x OUTER APPLY dbo.parts(x.id) WITH MARKS"
    script = _script([unclear], [("dbo.t", "a")], ["a <- 0.a IDENTITY"])

    lineage = _lineage(log_of("SELECT a FROM dbo.x", "INSERT INTO dbo.t (a) VALUES (?)"), script)

    assert [edge.evidence for edge in lineage.column_edges] == [Evidence.INFERRED]
    assert lineage.codes["load"].verified == 0
