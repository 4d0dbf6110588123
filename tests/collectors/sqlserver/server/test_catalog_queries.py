from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
import sqlglot

from dbt_graft.collectors.sqlserver.server import catalog_queries
from dbt_graft.collectors.sqlserver.server.catalog_queries import TakenSnapshot, take_snapshot
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    SnapshotRelation,
    read_snapshot,
    write_snapshot,
)
from dbt_graft.collectors.statements import time_limit
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Column
from tests.cases import for_each

pyodbc = pytest.importorskip("pyodbc", exc_type=ImportError)

SQL_SERVER, AZURE_SQL_DATABASE = 3, 5
NUMERIC = (None, 10, 0, None)
# A piece of each query that no other has.
ASKED = {
    "databases": "sys.databases",
    "relations": "INFORMATION_SCHEMA",
    "synonyms": "sys.synonyms",
    "modules": "sys.sql_modules",
    "has_data_sources": "sys.all_views",
    "data_sources": "sys.external_data_sources",
}


class Catalog:
    """A connection to a server with some databases, as far as a snapshot asks."""

    def __init__(self, edition: int = SQL_SERVER, **answers: Any) -> None:
        self.answers: Mapping[str, Any] = {
            "'ServerName'": [("CRM", "Shop")],
            "'EngineEdition'": [(edition, 16)],
            "sys.databases": [("Shop", "ONLINE", 1)],
            "INFORMATION_SCHEMA": [("dbo", "Orders", "BASE TABLE", "Id", "int", *NUMERIC)],
            "sys.synonyms": [],
            "sys.sql_modules": [],
            "sys.all_views": [],
            **{ASKED[name]: rows for name, rows in answers.items()},
        }
        self.asked: list[str] = []
        self.rows: Iterator[tuple[Any, ...]] = iter(())

    messages: Sequence[tuple[str, str]] = ()

    def setdecoding(self, *_: Any, **__: Any) -> None:
        """Text is handed over as the driver has it."""

    def cursor(self) -> Catalog:
        return self

    def execute(self, query: str) -> None:
        self.asked.append(query)
        answer = next(rows for piece, rows in self.answers.items() if piece in query)
        if callable(answer):
            answer = answer(query)
        if isinstance(answer, Exception):
            raise answer
        self.rows = iter(answer)

    def fetchmany(self, _: int) -> list[tuple[Any, ...]]:
        return [tuple(map(_raw, row)) for row in (next(self.rows, None),) if row is not None]

    def nextset(self) -> None:
        """There is none."""

    def close(self) -> None:
        """Nothing is held."""


def _raw(cell: Any) -> Any:
    return (
        cell.encode("utf-16-le", "surrogatepass").decode("latin-1")
        if isinstance(cell, str)
        else cell
    )


def by_database(**answers: Any) -> Callable[[str], Any]:
    """An answer for each database, by its name in the query."""

    def answer(query: str) -> Any:
        match = re.search(r"FROM \[(\w+)\]", query)
        assert match
        return answers[match[1]]

    return answer


def taken(*named: str, **answers: Any) -> TakenSnapshot:
    return take_snapshot(Catalog(**answers), named or None)


def test_a_database_has_its_tables_and_views_with_their_columns_in_order() -> None:
    columns = [
        ("dbo", "Orders", "BASE TABLE", "Id", "int", *NUMERIC),
        ("dbo", "Orders", "BASE TABLE", "Code", "varchar", 20, None, None, None),
        ("dbo", "OpenOrders", "VIEW", "Id", "int", *NUMERIC),
        ("etl", "Empty", "BASE TABLE", None, None, None, None, None, None),
    ]
    shop = taken(relations=by_database(Shop=columns)).snapshot.databases["Shop"]
    assert shop.relations == {
        "dbo.Orders": SnapshotRelation(
            Kind.TABLE, (Column("Id", "int"), Column("Code", "varchar(20)"))
        ),
        "dbo.OpenOrders": SnapshotRelation(Kind.VIEW, (Column("Id", "int"),)),
        "etl.Empty": SnapshotRelation(Kind.TABLE),
    }


@for_each(
    "described, spelled",
    [
        (("int", None, 10, 0, None), "int"),
        (("bit", None, None, None, None), "bit"),
        (("varchar", 20, None, None, None), "varchar(20)"),
        (("nvarchar", -1, None, None, None), "nvarchar(max)"),
        (("varbinary", 16, None, None, None), "varbinary(16)"),
        (("nchar", 2, None, None, None), "nchar(2)"),
        (("text", 2147483647, None, None, None), "text"),
        (("xml", -1, None, None, None), "xml"),
        (("decimal", None, 10, 2, None), "decimal(10,2)"),
        (("numeric", None, 18, 0, None), "numeric(18,0)"),
        (("money", None, 19, 4, None), "money"),
        (("float", None, 53, None, None), "float"),
        (("datetime", None, None, None, 3), "datetime"),
        (("date", None, None, None, 0), "date"),
        (("datetime2", None, None, None, 7), "datetime2(7)"),
        (("datetimeoffset", None, None, None, 0), "datetimeoffset(0)"),
        (("time", None, None, None, 3), "time(3)"),
        (("geography", -1, None, None, None), "geography"),
        (("uniqueidentifier", None, None, None, None), "uniqueidentifier"),
    ],
)
def test_a_type_is_spelled_as_in_a_declaration(described: tuple[Any, ...], spelled: str) -> None:
    snapshot = taken(relations=[("dbo", "t", "BASE TABLE", "c", *described)])
    assert snapshot.snapshot.databases["Shop"].relations["dbo.t"].columns == (Column("c", spelled),)


def test_a_synonym_stands_for_a_name_as_it_was_written() -> None:
    synonyms = [("dbo", "Ledger", "[Finance].[dbo].[Entries]"), ("dbo", "x", "[SRV].a.dbo.[b]")]
    assert taken(synonyms=synonyms).snapshot.databases["Shop"].synonyms == {
        "dbo.Ledger": "[Finance].[dbo].[Entries]",
        "dbo.x": "[SRV].a.dbo.[b]",
    }


def test_an_external_data_source_has_its_place_without_a_password() -> None:
    sources = [("lake", "https://me:geheim@a.blob.core.windows.net/lake"), ("up", "s3://in")]
    shop = taken(has_data_sources=[(1,)], data_sources=sources).snapshot.databases["Shop"]
    assert shop.data_sources == {"lake": "https://a.blob.core.windows.net/lake", "up": "s3://in"}


@for_each(
    "letters, kind",
    [
        ("V ", ModuleKind.VIEW),
        ("P ", ModuleKind.PROCEDURE),
        ("FN", ModuleKind.FUNCTION),
        ("IF", ModuleKind.FUNCTION),
        ("TF", ModuleKind.FUNCTION),
        ("TR", ModuleKind.TRIGGER),
    ],
)
def test_a_module_has_its_kind_and_text(letters: str, kind: ModuleKind) -> None:
    snapshot = taken(modules=[("dbo", "m", letters, "CREATE VIEW m AS\nSELECT 1 AS a", True)])
    assert snapshot.snapshot.databases["Shop"].modules == {
        "dbo.m": Module(kind, "CREATE VIEW m AS SELECT ? AS a")
    }


@pytest.mark.parametrize("quotes_are_names", [True, False])
@for_each(
    "body",
    [
        "SELECT 'geheim'",
        "SELECT N'it''s geheim'",
        "/* geheim */ SELECT 1 -- geheim",
        'SELECT a FROM t WHERE b = "geheim@example.com"',
        "EXEC sp_executesql N'SELECT ''geheim'''",
        "EXEC ('INSERT INTO t SELECT ''geheim''')",
        "EXEC ('SELECT ''geheim''') AT [SRV]",
        "SELECT * FROM OPENROWSET('SQLNCLI', 'Server=s;PWD=geheim', 'SELECT 1')",
        "OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = 'geheim'",
    ],
)
def test_no_literal_of_a_module_is_stored(body: str, quotes_are_names: bool) -> None:
    text = f"CREATE PROCEDURE dbo.m @p varchar(9) = 'geheim' AS {body}"
    snapshot = taken(modules=[("dbo", "m", "P ", text, quotes_are_names)])
    module = snapshot.snapshot.databases["Shop"].modules["dbo.m"]
    assert module.text.startswith("CREATE PROCEDURE dbo.m @p varchar(?) = ? AS")
    assert "geheim" not in module.text


def test_double_quotes_are_literals_where_the_module_was_created_so() -> None:
    text = 'CREATE VIEW dbo.m AS SELECT "geheim" AS a FROM dbo.t'
    (as_names, as_strings) = (
        taken(modules=[("dbo", "m", "V ", text, quotes_are_names)])
        .snapshot.databases["Shop"]
        .modules["dbo.m"]
        .text
        for quotes_are_names in (True, False)
    )
    assert as_names == text.replace('"geheim"', "[geheim]")
    assert as_strings == text.replace('"geheim"', "?")


def test_what_may_be_a_date_in_double_quotes_is_no_name() -> None:
    text = 'CREATE VIEW dbo.m AS SELECT "2024", "a" FROM dbo.t'
    snapshot = taken(modules=[("dbo", "m", "V ", text, True)])
    module = snapshot.snapshot.databases["Shop"].modules["dbo.m"]
    assert module.text == 'CREATE VIEW dbo.m AS SELECT "?", [a] FROM dbo.t'


def test_modules_without_text_are_reported_and_the_others_read() -> None:
    modules = [("dbo", f"m{n}", "P ", None, True) for n in range(7)]
    snapshot = taken(modules=[*modules, ("dbo", "open", "P ", "CREATE PROC open AS", True)])
    assert list(snapshot.snapshot.databases["Shop"].modules) == ["dbo.open"]
    (notice,) = snapshot.notices
    assert notice.startswith("Shop: 7 modules have no text that can be read (encrypted")
    assert notice.endswith("dbo.m0, dbo.m1, dbo.m2, dbo.m3, dbo.m4 and 2 more")


def test_modules_that_take_too_long_are_reported_and_the_others_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never_ends(text: str, setting: str) -> str:
        return str(re.match(r"(a|aa)*b", "a" * 200)) if "slow" in text else text

    monkeypatch.setattr(time_limit, "SECONDS", 0.1)
    monkeypatch.setattr(catalog_queries, "normalise_quoted", never_ends)
    texts = {name: f"CREATE PROC {name} AS" for name in ("slow", "quick")}
    modules = [("dbo", name, "P ", text, True) for name, text in texts.items()]
    snapshot = taken(modules=modules)
    assert list(snapshot.snapshot.databases["Shop"].modules) == ["dbo.quick"]
    assert snapshot.notices == ("Shop: 1 modules are left out: dbo.slow (took longer than 0.1 s)",)


def test_a_database_in_which_nothing_is_seen_is_reported() -> None:
    (notice,) = taken(relations=[]).notices
    assert "VIEW DEFINITION" in notice


DATABASES = [
    ("Archive", "OFFLINE", 0),
    ("Payroll", "ONLINE", 0),
    ("Secret", "ONLINE", 1),
    ("Shop", "ONLINE", 1),
]
DENIED = pyodbc.ProgrammingError(
    "42000", "[42000] SELECT denied on 'columns' (229) (SQLExecDirectW)"
)


def test_a_database_that_cannot_be_read_is_left_out_and_reported() -> None:
    shop = [("dbo", "Orders", "BASE TABLE", "Id", "int", *NUMERIC)]
    snapshot = taken(databases=DATABASES, relations=by_database(Secret=DENIED, Shop=shop))
    assert list(snapshot.snapshot.databases) == ["Shop"]
    assert snapshot.notices == (
        "Archive: left out, it is OFFLINE",
        "Payroll: left out, the login may not enter it",
        "Secret: left out, SELECT denied on '…'",
    )


def test_a_connection_that_breaks_gives_no_half_snapshot() -> None:
    broken = pyodbc.OperationalError("08S01", "[08S01] Communication link failure (0)")
    with pytest.raises(GraftError, match="reading failed: Communication link failure"):
        taken(synonyms=broken)


def test_a_server_that_refuses_is_an_error() -> None:
    with pytest.raises(GraftError, match="the server refused"):
        taken(databases=DENIED)


def test_only_the_named_databases_are_taken_whatever_their_case() -> None:
    snapshot = taken("SHOP", "shop", databases=DATABASES)
    assert (list(snapshot.snapshot.databases), snapshot.notices) == (["Shop"], ())


@pytest.mark.parametrize("name", ["Shp", "master", ""])
def test_a_database_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(GraftError) as error:
        taken("Shop", name)
    assert (name in error.value.problem, "Shop" in error.value.remedy) == (True, True)


def test_azure_sql_database_has_the_current_database_only() -> None:
    catalog = Catalog(AZURE_SQL_DATABASE)
    assert list(take_snapshot(catalog).snapshot.databases) == ["Shop"]
    assert not [query for query in catalog.asked if "sys.databases" in query]


def test_no_name_of_a_database_breaks_out_of_a_query() -> None:
    hostile = "x]; DROP DATABASE Shop; --"
    catalog = Catalog(databases=[(hostile, "ONLINE", 1)])
    assert list(take_snapshot(catalog).snapshot.databases) == [hostile]
    for query in catalog.asked[-3:]:
        (statement,) = sqlglot.parse(query, dialect="tsql")
        assert statement
        assert {table.catalog for table in statement.find_all(sqlglot.exp.Table)} == {hostile}


def test_every_query_is_one_select_of_t_sql() -> None:
    catalog = Catalog(has_data_sources=[(1,)], data_sources=[])
    take_snapshot(catalog)
    assert len(catalog.asked) == 8
    for query in catalog.asked:
        (statement,) = sqlglot.parse(query, dialect="tsql")
        assert isinstance(statement, sqlglot.exp.Select)


def test_a_taken_snapshot_can_be_written_and_read(tmp_path: Any) -> None:
    snapshot = taken(synonyms=[("dbo", "\ud800", "[a]")]).snapshot
    write_snapshot(snapshot, tmp_path / "s.json")
    assert read_snapshot(tmp_path / "s.json") == snapshot
    assert snapshot.server == "CRM"
