"""Statements of a Thrift Server or Spark Connect are shown by their text, without literals."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest

from dbt_graft.collectors.spark.log import events
from dbt_graft.collectors.spark.log.decode import BadEvent, decode
from dbt_graft.collectors.spark.log.events import connect_sql, thrift_sql
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble
from dbt_graft.collectors.statements import time_limit
from dbt_graft.collectors.statements.text.dialect import Dialect
from tests.cases import for_each
from tests.collectors.spark.stored import tables

THRIFT = "org.apache.spark.sql.hive.thriftserver.SparkExecuteStatementOperation$$anon$2.run(…)"
COPY = "CREATE TABLE raw.copy AS SELECT id FROM raw.orders WHERE name = 'secret'"
COPY_SHAPE = "CREATE TABLE raw.copy AS SELECT id FROM raw.orders WHERE name = ?"


@pytest.mark.parametrize(
    ("description", "details", "sql"),
    [
        (COPY, THRIFT, COPY_SHAPE),
        ("INSERT INTO t SELECT 2, 'hush' -- a comment", THRIFT, "INSERT INTO t SELECT ?, ?"),
        ("save at load.py:12", "org.apache.spark.sql.DataFrameWriter.save(…)", ""),
    ],
)
def test_the_description_is_the_statement_where_the_thrift_server_ran_it(
    description: str, details: str, sql: str
) -> None:
    assert thrift_sql(description, details) == sql


def test_a_statement_that_takes_too_long_is_damage_of_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never_ends(text: str, dialect: Dialect) -> str:
        return str(re.match(r"(a|aa)*b", "a" * 200))

    monkeypatch.setattr(time_limit, "SECONDS", 0.1)
    monkeypatch.setattr(events, "normalise", never_ends)
    name = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
    line = json.dumps({"Event": name, "executionId": 1, "description": COPY, "details": THRIFT})
    found = list(decode(io.BytesIO(line.encode() + b"\n")))
    assert BadEvent("line 1", "the SQL text of the event took longer than 0.1 s") in found


def request(query: str, around: str = "sql_command") -> str:
    """A request as Spark Connect logs it."""
    return f'{around} {{\n  input {{\n    sql {{\n      query: "{query}"\n    }}\n  }}\n}}\n'


@for_each(
    "text, sql",
    [
        (request(COPY.replace("'", r"\'")), COPY_SHAPE),
        (request(r"SELECT a\nFROM t"), "SELECT a FROM t"),
        (request(r"SELECT a FROM `\303\244rger`"), "SELECT a FROM `ärger`"),
        (request(r"SELECT \"secret\" FROM t"), "SELECT ? FROM t"),
        (
            request(r"SELECT a FROM t WHERE b = \'sec[truncated(size=9000)]"),
            "SELECT a FROM t WHERE b = ?",
        ),
        # What is written is more than the query that gives the rows.
        (request("SELECT a FROM t", around="write_operation"), ""),
        ("relation {\n  range {\n    end: 5\n  }\n}\n", ""),
    ],
)
def test_a_request_is_a_statement_where_it_is_nothing_more(text: str, sql: str) -> None:
    assert connect_sql(text) == sql


def shapes(log: bytes) -> list[tuple[str, str]]:
    """Dialect and text of the shapes that a log gives."""
    part = EventFile("log", partial(nullcontext, io.BytesIO(log)))
    collected = assemble("log", [part], SparkLogs("logs", "logs"))
    assert "secret" not in repr(tables(collected))
    return [(shape["dialect"], shape["text"]) for shape in tables(collected)["shapes"]]


def test_what_was_run_by_text_is_a_shape_of_its_text(
    make_log: Callable[..., bytes], node: Callable[..., Any]
) -> None:
    write = node(
        "Execute InsertIntoHadoopFsRelationCommand",
        node("Scan parquet spark_catalog.raw.orders"),
        args="file:/w/raw.db/copy, false, Parquet, [path=file:/w/raw.db/copy], Append, "
        "`spark_catalog`.`raw`.`copy`, [id]",
    )
    events = [json.loads(line) for line in make_log(*[{"plan": write}] * 3).splitlines()]
    starts = [event for event in events if event["Event"].endswith("SQLExecutionStart")]
    starts[0] |= {"description": COPY, "details": THRIFT}
    starts[1] |= {"jobTags": ["SparkConnect_1", "session"]}
    connect = {
        "Event": "org.apache.spark.sql.connect.service.SparkListenerConnectOperationStarted",
        "jobTag": "SparkConnect_1",
        "statementText": request(r"INSERT INTO raw.copy SELECT \'secret\'"),
    }
    log = b"".join(json.dumps(one).encode() + b"\n" for one in (events[0], connect, *events[1:]))
    assert sorted(shapes(log)) == [
        ("spark", COPY_SHAPE),
        ("spark", "INSERT INTO raw.copy SELECT ?"),
        ("spark-plan", "INSERT raw.copy <- raw.orders"),
    ]
