"""Names of temporary tables in texts, and which of them are one table."""

from __future__ import annotations

from dbt_graft.collectors.sqlserver.runs.temporaries import (
    TempTable,
    TempTables,
    decode,
    encode,
    temp_table_references,
)
from dbt_graft.collectors.sqlserver.runs.temporaries import (
    TempTableReference as Reference,
)
from tests.cases import for_each


@for_each(
    "text, expected",
    [
        ("SELECT * INTO #t FROM a", [Reference("#t", True, False)]),
        ("CREATE TABLE #T (i int)", [Reference("#t", True, False)]),
        ("CREATE TABLE [#my t] (i int)", [Reference("#my t", True, False)]),
        ("SELECT * INTO tempdb..#t FROM a", [Reference("#t", True, False)]),
        ("INSERT INTO #t SELECT * FROM a", [Reference("#t", False, False)]),
        ("MERGE INTO #t USING a ON ?", [Reference("#t", False, False)]),
        ("INSERT INTO a SELECT * FROM #t, #u", [Reference(n, False, False) for n in ("#t", "#u")]),
        ("INSERT INTO a SELECT * FROM #t; DROP TABLE #t", [Reference("#t", False, True)]),
        ("DROP TABLE IF EXISTS #t; CREATE TABLE #t (i int)", [Reference("#t", True, False)]),
        ("TRUNCATE TABLE #t", [Reference("#t", True, True)]),
        ("SELECT * INTO ##shared FROM a", []),
        ("SELECT a#b FROM c$#d", []),
        ("SELECT a FROM b", []),
    ],
)  # fmt: skip
def test_references(text: str, expected: list[Reference]) -> None:
    assert list(temp_table_references(text)) == expected


def run(*texts: str) -> list[TempTable]:
    """The table that each text is run on."""
    tables = TempTables()
    return [tables.use_tables(text, temp_table_references(text), again=False)[0] for text in texts]


FILL = "SELECT * INTO #t FROM a"
USE = "INSERT INTO b SELECT * FROM #t"
DROP = "DROP TABLE #t"


def test_a_table_lasts_until_it_is_made_again() -> None:
    first, used, again, last = run(FILL, USE, FILL, USE)
    assert first is used
    assert again is last
    assert first is not again


def test_a_dropped_table_is_not_the_next_one() -> None:
    first, _, other = run(FILL, DROP, "INSERT INTO #t SELECT * FROM a")
    assert first is not other


def test_tables_that_the_same_was_run_on_get_the_same_suffix() -> None:
    tables = run(FILL, USE, DROP, FILL, USE, DROP, "SELECT * INTO #t FROM other")
    suffixes = [table.settled_suffix("51", is_open=False) for table in tables]
    assert suffixes[0] == suffixes[3] != suffixes[6]


def test_a_table_that_is_still_used_keeps_its_suffix() -> None:
    tables = TempTables()
    (table,) = tables.use_tables(FILL, temp_table_references(FILL), again=False)
    suffix = table.settled_suffix("51", is_open=True)
    (same,) = tables.use_tables(USE, temp_table_references(USE), again=False)
    assert same is table
    assert table.settled_suffix("51", is_open=False) == suffix


def test_a_table_from_before_has_no_suffix_of_its_own() -> None:
    (table,) = TempTables().use_tables(USE, temp_table_references(USE), again=False)
    assert table.settled_suffix("51", is_open=True) == "?"


def test_a_request_begins_no_table_that_its_statements_began() -> None:
    tables = TempTables()
    (inside,) = tables.use_tables(FILL, temp_table_references(FILL), again=False)
    (request,) = tables.use_tables(FILL, temp_table_references(FILL), again=True)
    assert inside is request


def test_suffixes_are_decoded_as_they_were_encoded() -> None:
    suffixes = {"#t": "17", "#my t": "?"}
    assert decode(encode(suffixes.items())) == suffixes
    assert decode("") == {}
