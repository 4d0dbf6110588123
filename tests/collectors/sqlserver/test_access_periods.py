"""Events of SQL Server -> the periods in the rows of the store, and no other values."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial

import pyarrow as pa
import pytest

from dbt_graft.collectors.schema import record
from dbt_graft.collectors.sqlserver.assemble import AssembledRows, assemble
from dbt_graft.collectors.sqlserver.event import Chunk, ExtendedEvent
from dbt_graft.collectors.sqlserver.resolution.resolve import TextResolver
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients
from dbt_graft.collectors.sqlserver.runs.folding import fold_chunks
from dbt_graft.collectors.sqlserver.runs.rules import RunRules
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
)
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.records import Access, Column, Direction
from tests.cases import for_each
from tests.collectors.sqlserver.runs.test_fold import event

SERVER = "mssql://sql01:1433"
TYPES = {
    "dbo.orders": {"id": "int", "day": "date", "placed": "datetime2(7)", "note": "varchar(50)"},
    "dbo.people": {"id": "int", "born_on": "date", "birth_date": "date", "joined": "date"},
    "dbo.daily": {"day": "date", "total": "money"},
    "dbo.monthly": {"month": "char(7)", "total": "money"},
}
SNAPSHOT = Snapshot(
    "SQL01",
    datetime(2026, 11, 20, tzinfo=UTC),
    {
        "Shop": SnapshotDatabase(
            relations={
                name: SnapshotRelation(Kind.TABLE, tuple(Column(*c) for c in types.items()))
                for name, types in TYPES.items()
            },
            synonyms={},
            modules={},
        )
    },
)


def collected(
    events: Iterable[ExtendedEvent],
    snapshot: Snapshot | None = SNAPSHOT,
    columns: DateColumns | None = None,
) -> tuple[list[Access], str]:
    """The accesses of a log, and all its rows as text."""
    rules = RunRules(date_columns=columns or DateColumns())
    folded = list(fold_chunks("log", [Chunk(list(events))], rules, TaskClients(rules.task)))
    order = [(name, "ascending") for name in ("task", "session", "first_ended", "first_sequence")]
    # No earlier collect left a session open.
    table = pa.Table.from_batches(folded).sort_by(order)
    segments = table.append_column("run_id", pa.nulls(table.num_rows, pa.string())).to_batches()
    resolver = partial(TextResolver, SERVER, snapshot)
    assembled = assemble(SERVER, rules.idle_seconds, resolver, rules.date_columns, iter(segments))
    rows = [row for batch in assembled for row in batch.to_pylist()]
    found = [record(AssembledRows, row).records.accesses for row in rows]
    return [access for each in found for access in each], str(rows)


def shown(access: Access) -> str:
    """`read orders day 2026-11-01 2026-11-02 day`, with `~` of a part."""
    ranges = "; ".join(
        f"{period.column} {period.start and period.start.date()} "
        f"{period.end and period.end.date()} {period.grain}"
        f"{' ~' * period.in_part}"
        for period in access.periods
    )
    direction = "read" if access.direction is Direction.READ else "write"
    return f"{direction} {access.dataset.name.rpartition('.')[2]}: {ranges or '-'}"


def periods(*sent: str | tuple[str, str], snapshot: Snapshot | None = SNAPSHOT) -> list[str]:
    pairs = [one if isinstance(one, tuple) else ("batch", one) for one in sent]
    found, _ = collected([event(k, t, at) for at, (k, t) in enumerate(pairs)], snapshot)
    return sorted(map(shown, found))


@for_each(
    "text, expected",
    [
        pytest.param(
            "SELECT id FROM dbo.orders WHERE day = '2026-11-01'",
            ["read orders: day 2026-11-01 2026-11-02 day"],
            id="one day",
        ),
        pytest.param(
            "SELECT id FROM dbo.orders WHERE placed > '2026-11-01' AND placed < '2026-11-03'",
            ["read orders: placed 2026-11-01 2026-11-02 day ~; placed 2026-11-02 2026-11-03 day"],
            id="by type, with times",
        ),
        pytest.param(
            "DELETE FROM dbo.orders WHERE placed >= '2026-11-01 05:00' AND placed < '2026-11-03'",
            ["write orders: placed 2026-11-01 2026-11-02 day ~; placed 2026-11-02 2026-11-03 day"],
            id="delete from a time of day on",
        ),
        pytest.param(
            "DELETE FROM dbo.daily WHERE day = '2026-11-01' AND total = 5",
            ["write daily: day 2026-11-01 2026-11-02 day ~"],
            id="delete by other columns, too",
        ),
        pytest.param(
            "SELECT id FROM dbo.orders WHERE day > '2026-11-01'",
            ["read orders: day 2026-11-02 None day"],
            id="after a day",
        ),
        pytest.param(
            "DELETE FROM dbo.daily WHERE day BETWEEN '2026-10-01' AND '2026-10-31'",
            ["write daily: day 2026-10-01 2026-11-01 day"],
            id="delete",
        ),
        pytest.param(
            "INSERT INTO dbo.daily (day, total) SELECT o.day, COUNT(*) FROM dbo.orders o "
            "WHERE o.day IN ('2026-11-01', '2026-11-02') GROUP BY o.day",
            [
                "read orders: day 2026-11-01 2026-11-03 day",
                "write daily: day 2026-11-01 2026-11-03 day",
            ],
            id="insert by a copied column",
        ),
        pytest.param(
            "INSERT INTO dbo.monthly (month, total) SELECT CONVERT(char(7), day, 126), SUM(total) "
            "FROM dbo.daily WHERE day >= '2026-10-01' AND day < '2026-11-01' "
            "GROUP BY CONVERT(char(7), day, 126)",
            [
                "read daily: day 2026-10-01 2026-11-01 day",
                "write monthly: month 2026-10-01 2026-11-01 month",
            ],
            id="roll-up",
        ),
        pytest.param(
            "SELECT id FROM dbo.orders WHERE note = '2026-11-01'",
            ["read orders: -"],
            id="no date column",
        ),
        pytest.param(
            "SELECT id FROM dbo.people WHERE birth_date = '1990-05-17' AND born_on > '1990-01-01'",
            ["read people: -"],
            id="about people",
        ),
        pytest.param(
            "SELECT o.id FROM dbo.orders o JOIN dbo.people p ON p.id = o.id "
            "WHERE placed >= '2026-11-01' AND joined < '2026-11-05'",
            [
                "read orders: placed 2026-11-01 None day",
                "read people: joined None 2026-11-05 day",
            ],
            id="columns without a table",
        ),
        pytest.param(
            "SELECT id FROM dbo.orders WHERE day = '2026-11-01'; SELECT id FROM dbo.orders",
            ["read orders: -", "read orders: -"],
            id="once more without a condition",
        ),
        pytest.param(
            "UPDATE dbo.daily SET total = 0 WHERE day = CAST('20261101' AS date)",
            ["write daily: day 2026-11-01 2026-11-02 day"],
            id="update",
        ),
    ],
)
def test_conditions_on_date_columns_are_periods(text: str, expected: list[str]) -> None:
    assert periods(text) == expected


@for_each(
    "sent, expected",
    [
        (["INSERT INTO d (id, ds) SELECT id, '20261101' FROM o"], "ds 2026-11-01"),
        (
            ["INSERT INTO d (ds) SELECT o.ds FROM o, p WHERE o.ds = '20261101' AND p.ds < '2026'"],
            "ds 2026-11-01",
        ),
        # Which of two dates is that of the data shows what is deleted.
        (["INSERT INTO d (load_date, ds) SELECT '20261102', ds FROM o WHERE i = @i"], "-"),
        (["INSERT INTO d (load_date, ds) SELECT '20261102', '20261101' FROM o"], "-"),
        (
            [
                "DELETE FROM d WHERE ds = '20261101'",
                "INSERT INTO d (load_date, ds) SELECT '20261102', '20261101' FROM o",
            ],
            "ds 2026-11-01",
        ),
        (
            [
                "DELETE FROM d WHERE ds = '20261101'",
                "INSERT INTO d (load_date, ds) SELECT '20261102', ds FROM o WHERE ds = '20261101'",
            ],
            "ds 2026-11-01",
        ),
    ],
)
def test_new_rows_are_of_the_dates_that_they_are_given(sent: list[str], expected: str) -> None:
    texts = [text for text in periods(*sent, snapshot=None) if text.startswith("write d")]

    assert {text.removeprefix("write d: ")[: len(expected)] for text in texts} == {expected}


def test_rows_that_are_inserted_one_by_one_have_the_dates_of_all() -> None:
    literal = [f"INSERT INTO d (id, ds) VALUES ({n}, '2026-11-{n:02}')" for n in range(1, 6)]
    call = "exec sp_executesql N'INSERT INTO e (i, ds) VALUES (@a, @b)',N'@a int,@b date'"
    calls = [("rpc", f"{call},{n},'2026-11-{n:02}'") for n in range(1, 6)]

    assert periods(*literal, *calls, snapshot=None) == [
        "write d: ds 2026-11-01 2026-11-06 day",
        "write e: ds 2026-11-01 2026-11-06 day",
    ]


def test_without_a_catalog_names_decide() -> None:
    text = "SELECT 1 FROM dbo.t WHERE load_date = '2026-11-01' AND placed = '2026-11-07'"
    assert periods(text, snapshot=None) == ["read t: load_date 2026-11-01 2026-11-02 day"]


@pytest.mark.parametrize(
    "call",
    [
        "exec sp_executesql N'DELETE FROM dbo.daily WHERE day = @d',N'@d date',@d='2026-11-04'",
        "exec sp_executesql N'DELETE FROM dbo.daily WHERE day = @P1',N'@P1 date','2026-11-04'",
        "exec sp_executesql N'DELETE FROM dbo.daily WHERE total > @P0 AND day = @P1',"
        "N'@P0 money,@P1 nvarchar(4000)',7.50,N'2026-11-04'",
        "declare @p1 int set @p1=1 exec sp_prepexec @p1 output,N'@P1 date',"
        "N'DELETE FROM dbo.daily WHERE day = @P1','2026-11-04' select @p1",
    ],
    ids=["named", "positional", "second", "prepared"],
)
def test_parameters_of_calls_are_values(call: str) -> None:
    [period] = periods(("rpc", call))
    assert period.removesuffix(" ~") == "write daily: day 2026-11-04 2026-11-05 day"


def test_a_prepared_statement_has_the_dates_of_all_its_calls() -> None:
    prepared = (
        "declare @p1 int set @p1=5 exec sp_prepexec @p1 output,N'@P1 date',"
        "N'DELETE FROM dbo.daily WHERE day = @P1','2026-11-04' select @p1"
    )
    calls = [("rpc", f"exec sp_execute 5,'2026-11-0{day}'") for day in (5, 7)]
    assert periods(("rpc", prepared), *calls) == [
        "write daily: day 2026-11-04 2026-11-06 day; day 2026-11-07 2026-11-08 day"
    ]


def test_a_value_that_is_no_date_leaves_all_dates() -> None:
    call = "exec sp_executesql N'DELETE FROM dbo.daily WHERE day = @d',N'@d date',@d={}"
    sent = [("rpc", call.format(value)) for value in ("'2026-11-04'", "NULL")]
    assert periods(*sent) == ["write daily: -"]


def test_the_time_of_the_server_is_the_beginning_of_the_statement() -> None:
    # The log begins on 2026-09-21.
    text = "DELETE FROM dbo.daily WHERE day >= DATEADD(day, -7, CAST(GETDATE() AS date))"
    assert periods(text) == ["write daily: day 2026-09-14 None day"]


def test_variables_that_are_assigned_once_are_values() -> None:
    text = "DECLARE @d date = '2026-11-01'; DELETE FROM dbo.daily WHERE day = @d"
    assert periods(text) == ["write daily: day 2026-11-01 2026-11-02 day"]
    again = "DECLARE @d date = '2026-11-01'; SET @d = x; DELETE FROM dbo.daily WHERE day = @d"
    assert periods(again) == ["write daily: -"]


def test_configured_columns_count_and_excluded_ones_do_not() -> None:
    text = "SELECT id FROM dbo.orders WHERE note = '2026-11-01' AND day = '2026-11-02'"
    found, _ = collected([event("batch", text)], columns=DateColumns(("note",)))
    assert [period.column for access in found for period in access.periods] == ["note"]
    found, _ = collected([event("batch", text)], columns=DateColumns((), ("d*y",)))
    assert [period.column for access in found for period in access.periods] == []


SECRETS = (
    "Ann Lee",
    "123-45-6789",
    "1990-05-17",
    "1991-06-18",
    "2026-03-03",
    "2026-04-04",
    "551261273",
)


def test_no_literal_but_accepted_dates_reaches_the_store() -> None:
    ann, ssn, birth, dob, noted, other, number = SECRETS
    sent = [
        f"SELECT id FROM dbo.people WHERE name = '{ann}' AND ssn = '{ssn}' "
        "AND joined = '2026-11-01'",
        f"SELECT id FROM dbo.people WHERE birth_date = '{birth}' AND dob >= '{dob}' "
        f"AND id = {number}",
        f"SELECT id FROM dbo.orders WHERE note = '{noted}' AND note IN ('{other}', '{ann}')",
        f"SELECT id FROM dbo.unknown WHERE code = '{noted}' AND patient_date = '{other}'",
        f"INSERT INTO dbo.daily VALUES ('{noted}', {number})",
        f"UPDATE dbo.people SET birth_date = '{birth}' WHERE joined = '2026-11-02'",
        f"exec sp_executesql N'SELECT 1 FROM dbo.people WHERE birth_date = @b AND name = @n',"
        f"N'@b date,@n nvarchar(9)',@b='{birth}',@n=N'{ann}'",
    ]
    kinds = ["rpc" if text.startswith("exec") else "batch" for text in sent]
    events = [
        event(kind, text, at) for at, (kind, text) in enumerate(zip(kinds, sent, strict=True))
    ]
    found, rows = collected(events)
    assert [one for one in SECRETS if one in rows] == []
    # As a time the same dates would be written otherwise.
    starts = {p.start and p.start.date().isoformat() for a in found for p in a.periods}
    assert starts == {"2026-11-01", "2026-11-02"}
    for secret in (birth, dob, noted, other):
        year, month, day = (int(part) for part in secret.split("-"))
        assert f"datetime.datetime({year}, {month}, {day}" not in rows


def test_segments_do_not_grow_with_the_dates() -> None:
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 11) for day in range(1, 29)]
    events = [
        event("batch", f"DELETE FROM dbo.daily WHERE day = '{day}'", at)
        for at, day in enumerate(days)
    ]
    segments = [
        row
        for each in fold_chunks("log", [Chunk(events)], RunRules(), TaskClients(RunRules().task))
        for row in each.to_pylist()
        if row["text"]
    ]
    assert len(segments) == 1
    assert segments[0]["times"] == len(days)
    # The last day of February in the list is followed by the first of March.
    assert len(segments[0]["dates"]) == 9
