"""Events of SQL Server -> the partition numbers in the rows of the store, and no other values."""

from __future__ import annotations

from dbt_graft.lineage.records import Access
from tests.cases import for_each
from tests.collectors.sqlserver.runs.test_fold import event
from tests.collectors.sqlserver.test_access_periods import collected

IN, OUT = "ALTER TABLE dbo.stage SWITCH", "ALTER TABLE dbo.orders SWITCH"


def shown(access: Access) -> str:
    """`SWITCH read orders: 2..2 4..6`; `some` of those that are not known, `-` of all."""
    numbers = [
        f"{position.start}..{position.end}" if position.start else "some"
        for position in access.positions
    ]
    assert {position.kind for position in access.positions} <= {"partitions"}
    name = access.dataset.name.rpartition(".")[2]
    return f"{access.operation} {access.direction} {name}: {' '.join(numbers) or '-'}"


def positions(*sent: str) -> list[str]:
    kinds = ["rpc" if text.startswith(("exec ", "declare @p1")) else "batch" for text in sent]
    pairs = enumerate(zip(kinds, sent, strict=True))
    found, _ = collected([event(kind, text, at) for at, (kind, text) in pairs])
    return sorted(map(shown, found))


@for_each(
    "text, expected",
    [
        ("TRUNCATE TABLE dbo.orders WITH (PARTITIONS (2))", "2..2"),
        ("truncate table [dbo].[orders] with (partitions (2, 4 to 6))", "2..2 4..6"),
        ("TRUNCATE TABLE Shop.dbo.orders WITH (PARTITIONS (9, 4 TO 6, 5 TO 7))", "4..7 9..9"),
        ("TRUNCATE TABLE orders WITH (PARTITIONS (7, 3, 4))", "3..4 7..7"),
        ("TRUNCATE TABLE dbo.orders WITH (PARTITIONS ($PARTITION.by_day('2026-11-01')))", "some"),
        ("TRUNCATE TABLE dbo.orders WITH (PARTITIONS (6 TO 4))", "some"),
        ("TRUNCATE TABLE dbo.orders WITH (PARTITIONS (0))", "some"),
        ("TRUNCATE TABLE dbo.orders WITH (PARTITIONS (15001))", "some"),
        ("TRUNCATE TABLE dbo.orders WITH (PARTITIONS ('Ann', 5))", "some"),
        ("TRUNCATE TABLE dbo.orders WITH (PARTITIONS (@p))", "some"),
        ("DECLARE @p int = 3; TRUNCATE TABLE dbo.orders WITH (PARTITIONS (@p, 5))", "3..3 5..5"),
        ("DECLARE @p int = 1 WHILE @p < 9 BEGIN TRUNCATE TABLE dbo.orders WITH (PARTITIONS (@p)) "
         "SET @p += 1 END", "some"),
        ("EXEC('TRUNCATE TABLE dbo.orders WITH (PARTITIONS (8))')", "8..8"),
        ("exec sp_executesql N'TRUNCATE TABLE dbo.orders WITH (PARTITIONS (@n TO 7))',"
         "N'@n int',@n=5", "5..7"),
        ("TRUNCATE TABLE dbo.orders", "-"),
    ],
)  # fmt: skip
def test_partitions_that_are_truncated(text: str, expected: str) -> None:
    assert positions(text) == [f"TRUNCATE write orders: {expected}"]


@for_each(
    "text, read, written",
    [
        (f"{IN} PARTITION 2 TO dbo.orders PARTITION 7", "stage: 2..2", "orders: 7..7"),
        (f"{IN} TO dbo.orders PARTITION 7 WITH (WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES,"
         " ABORT_AFTER_WAIT = NONE))", "stage: -", "orders: 7..7"),
        (f"{OUT} PARTITION 12 TO [dbo].[old];", "orders: 12..12", "old: -"),
        (f"{OUT} TO dbo.old", "orders: -", "old: -"),
        (f"{OUT} PARTITION $PARTITION.by_day('2026-11-01') TO dbo.old PARTITION 3",
         "orders: some", "old: 3..3"),
        (f"DECLARE @p int = 4; {OUT} PARTITION @p TO dbo.old PARTITION @p + 1",
         "orders: 4..4", "old: some"),
    ],
)  # fmt: skip
def test_partitions_that_are_switched(text: str, read: str, written: str) -> None:
    assert positions(text) == [f"SWITCH read {read}", f"SWITCH write {written}"]


def test_statements_that_differ_in_numbers_only_are_one_access_with_gaps() -> None:
    sent = [f"TRUNCATE TABLE dbo.orders WITH (PARTITIONS ({n}))" for n in (2, 3, 9)]
    assert positions(*sent) == ["TRUNCATE write orders: 2..3 9..9"]


def test_a_number_that_is_not_known_leaves_none_known() -> None:
    call = "exec sp_executesql N'{} PARTITION @n TO dbo.old',N'@n int',@n={}"
    found = positions(call.format(OUT, 4), call.format(OUT, "NULL"))
    assert found == ["SWITCH read orders: some", "SWITCH write old: -"]


def test_a_prepared_statement_has_the_numbers_of_all_its_calls() -> None:
    prepared = (
        "declare @p1 int set @p1=5 exec sp_prepexec @p1 output,N'@P1 int',"
        "N'TRUNCATE TABLE dbo.orders WITH (PARTITIONS (@P1))',4 select @p1"
    )
    assert positions(prepared, "exec sp_execute 5,6") == ["TRUNCATE write orders: 4..4 6..6"]


def test_other_statements_of_the_text_have_no_partitions() -> None:
    text = f"{OUT} PARTITION 4 TO dbo.old; SELECT id FROM dbo.orders"
    assert "SELECT read orders: -" in positions(text)


def test_nothing_but_the_numbers_of_partitions_reaches_the_store() -> None:
    sent = [
        f"{OUT} PARTITION $PARTITION.by_day('2026-11-01') TO dbo.old; SELECT 551234",
        "TRUNCATE TABLE dbo.orders WITH (PARTITIONS (77123, 'Ann Lee'))",
        "exec sp_executesql N'TRUNCATE TABLE dbo.orders WITH (PARTITIONS (@n))',"
        "N'@n int,@s nvarchar(9)',@n=N'98765',@s=N'Bob Ray'",
    ]
    kinds = ["batch", "batch", "rpc"]
    pairs = enumerate(zip(kinds, sent, strict=True))
    _, rows = collected([event(kind, text, at) for at, (kind, text) in pairs])
    secrets = ("2026-11-01", "551234", "77123", "Ann Lee", "98765", "Bob Ray")
    assert [secret for secret in secrets if secret in rows] == []
