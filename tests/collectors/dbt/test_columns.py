"""Column edges of dbt's models, from the compiled SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.dbt.column_cache import ColumnCache
from dbt_graft.collectors.dbt.models import dialect_of
from dbt_graft.collectors.statements.workers import WorkerPool
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionEdges
from dbt_graft.lineage.records import Evidence
from tests.cases import for_each
from tests.collectors.dbt.project import DbtProject

ORDERS = "source.shop.raw.orders"


@for_each(
    "sql, columns, edges",
    [
        (
            "select id, amount from db.raw.orders",
            "id amount",
            "amount<-orders.amount id<-orders.id",
        ),
        ("select * from db.raw.orders", "id amount", "amount<-orders.amount id<-orders.id"),
        ('select "ID" as id from "DB"."RAW"."Orders"', "ID", "ID<-orders.id"),
        ("select id from raw.orders", "id", "id<-orders.id"),
        ("select id from orders", "id", "id<-orders.id"),
        ("select sum(amount) from db.raw.orders", "sum", "sum<-orders.amount:AGGREGATION"),
        ("select id, amount * 2 from db.raw.orders", "id x", "id<-orders.id x<-orders.amount:T"),
        ("select count(*) as n, 'x' as y, now() as z from db.raw.orders", "n y z", ""),
        (
            "select id from db.raw.orders where amount > 1",
            "id",
            "*<-orders.amount:FILTER id<-orders.id",
        ),
        ("select x.id from other.place.t x", "id", "id<-t.id"),
        # A name that no schema has, behind `*`: the statement needs it all the same.
        (
            "with o as (select * from db.raw.orders) select o.gone from o",
            "gone",
            "gone<-orders.gone",
        ),
        (
            "with o as (select *, id as k from db.raw.orders where id > 0 order by id), "
            "p as (select p.* from o as p) select id from p where gone > 0",
            "id",
            "*<-orders.gone:FILTER *<-orders.id:FILTER *<-orders.id:SORT id<-orders.id",
        ),
        # A view may have two columns of a name, and the catalog has one.
        (
            "select id * 2 as amount, o.* from db.raw.orders as o",
            "amount id",
            "amount<-orders.amount amount<-orders.id:T id<-orders.id",
        ),
        ("select id from db.s.m union all select id from db.raw.orders", "id", "id<-orders.id"),
    ],
)
def test_columns_come_from_what_the_query_reads(sql: str, columns: str, edges: str) -> None:
    project = DbtProject()
    project.source("orders", "id amount")
    project.model("m", sql, columns, reads=ORDERS)
    assert project.edges("m").replace("TRANSFORMATION", "T") == edges
    assert project.follow().gaps == {}


@for_each(
    "adapter, relation",
    [
        ("databricks", "`db`.`raw`.`orders`"),
        ("bigquery", "`db.raw.orders`"),
        ("fabric", "[db].[raw].[orders]"),
        ("snowflake", "DB.RAW.ORDERS"),
        ("clickhouse", "`raw`.`orders`"),
        ("duckdb", '"db"."raw"."orders"'),
        ("mysql", "`raw`.`orders`"),
    ],
)
def test_relations_are_quoted_as_the_adapter_does(adapter: str, relation: str) -> None:
    project = DbtProject(adapter)
    project.source("orders", "ID AMOUNT")
    project.model("m", f"select id, amount as total from {relation}", "id total", reads=ORDERS)
    assert project.edges("m") == "id<-orders.ID total<-orders.AMOUNT"


def test_an_edge_is_declared_by_its_model() -> None:
    project = DbtProject()
    project.source("orders", "id")
    key = project.model("m", "select md5(id) as hash from db.raw.orders", reads=ORDERS)
    [edge] = project.follow().edges[key]
    assert (edge.task, edge.evidence, edge.masking) == (key, Evidence.DECLARED, True)
    assert edge.to_dataset == DatasetId("pg", "db.s.m")


def test_columns_of_a_model_that_the_catalog_lacks_are_those_of_its_query() -> None:
    project = DbtProject()
    project.source("orders", "id amount")
    first = project.model("a_last", "select * from db.s.z_first", reads="model.shop.z_first")
    project.model("z_first", "select id, amount as total from db.raw.orders", reads=ORDERS)
    project.model("end", "select * from db.s.a_last", reads=first)
    assert project.edges("end") == "id<-a_last.id total<-a_last.total"
    assert project.follow().gaps == {}


def test_columns_of_a_yaml_file_may_be_some_of_many() -> None:
    project = DbtProject()
    project.source("orders", documented="id")
    project.model("m", "select * from db.raw.orders", "id amount", reads=ORDERS)
    assert project.edges("m") == "amount<-orders.amount id<-orders.id"


def test_those_of_an_enforced_contract_are_all() -> None:
    project = DbtProject()
    project.source("orders", "id amount")
    project.model(
        "a",
        "select id from db.raw.orders",
        documented="id",
        config={"contract": {"enforced": True}},
    )
    project.model("b", "select * from db.s.a", reads="model.shop.a")
    assert project.edges("b") == "id<-a.id"


@pytest.mark.parametrize(
    "sql",
    [
        "with __dbt__cte__e as (select id, sum(amount) as total from db.raw.orders group by id)"
        " select total from __dbt__cte__e",
        "select total from __dbt__cte__e",
    ],
)
def test_an_ephemeral_model_is_seen_through(sql: str) -> None:
    project = DbtProject()
    project.source("orders", "id amount")
    ephemeral = project.model(
        "e",
        "select id, sum(amount) as total from db.raw.orders group by id",
        reads=ORDERS,
        config={"materialized": "ephemeral"},
    )
    project.model("m", sql, "total", reads=ephemeral)
    assert project.edges("m") == "*<-orders.id:GROUP_BY total<-orders.amount:AGGREGATION"
    assert ephemeral not in project.follow().edges


@pytest.mark.parametrize("compiled", ["incremental", "full"])
def test_both_branches_of_an_incremental_model_count(compiled: str) -> None:
    rendered = {
        "incremental": 'select id from "db"."raw"."changes"',
        "full": 'select id from "db"."raw"."orders"',
    }
    project = DbtProject()
    reads = " ".join([project.source("orders", "id"), project.source("changes", "id")])
    project.model(
        "m",
        rendered[compiled],
        "id",
        reads=reads,
        raw_code="{{ config(materialized='incremental') }}select id from"
        " {% if is_incremental() %}{{ source('raw', 'changes') }}"
        "{% else %}{{ source('raw', 'orders') }}{% endif %}",
    )
    assert project.edges("m") == "id<-changes.id id<-orders.id"


def test_a_model_that_reads_itself_has_no_edge_to_itself() -> None:
    project = DbtProject()
    project.source("orders", "id day")
    project.model(
        "m",
        "select id, day from db.raw.orders where day > (select max(day) from db.s.m)",
        "id day",
        reads=ORDERS,
    )
    assert project.edges("m") == "*<-orders.day:FILTER day<-orders.day id<-orders.id"


@pytest.mark.parametrize(
    ("columns", "config", "gap"),
    [
        ("id dbt_scd_id dbt_updated_at dbt_valid_from dbt_valid_to", {}, None),
        ("id begins", {"snapshot_meta_column_names": {"dbt_valid_from": "begins"}}, None),
        ("id old", {}, "columns that its query does not have: old"),
    ],
)
def test_a_snapshot_has_columns_that_dbt_adds(
    columns: str, config: object, gap: str | None
) -> None:
    project = DbtProject()
    project.source("orders", "id")
    sql = "select * from db.raw.orders"
    key = project.model("m", sql, columns, reads=ORDERS, kind="snapshot", config=config)
    assert project.edges("m") == "id<-orders.id"
    assert project.follow().gaps.get(key) == gap


@for_each(
    "sql, more, gap",
    [
        ("select from where", {}, "the parser does not support this statement"),
        ("insert into t values (1)", {}, "it is not a query"),
        ("", {}, "it is not compiled (run `dbt compile` or `dbt docs generate`)"),
        ("", {"language": "python"}, "a Python model: columns come from Spark's log"),
        (
            "select * from db.raw.one cross join db.raw.two",
            {},
            "it selects * from a relation whose columns are not known",
        ),
        ("select x from " + "(" * 30_000, {}, None),
    ],
)
def test_a_gap_costs_its_model_only(sql: str, more: dict[str, object], gap: str | None) -> None:
    project = DbtProject()
    project.source("orders", "id")
    bad = project.model("bad", sql, **more)
    project.model("good", "select id from db.raw.orders", "id", reads=ORDERS)
    found = project.follow()
    assert project.edges("good") == "id<-orders.id"
    assert found.gaps.keys() == {bad}
    assert gap is None or found.gaps[bad] == gap
    assert found.coverage is not None
    assert (found.coverage.followed, found.coverage.of) == (1, 2)


@pytest.mark.parametrize("adapter", ["postgres", "snowflake", "spark", "duckdb", "fabric"])
def test_literals_in_expressions_without_a_name_are_not_published(adapter: str) -> None:
    project = DbtProject(adapter)
    project.source("orders", "id")
    project.model("m", "select id + 'secret', 'secret' + id from db.raw.orders", reads=ORDERS)
    assert "secret" not in repr(project.follow())


@pytest.mark.parametrize(
    ("adapter", "sql", "notice"),
    [
        ("postgres", "", "it is not compiled (run `dbt compile` or `dbt docs generate`)"),
        ("mainframe", "select 1 as x", "the SQL of dbt's adapter mainframe is not supported"),
    ],
)
def test_what_concerns_all_models_is_one_notice(adapter: str, sql: str, notice: str) -> None:
    project = DbtProject(adapter)
    keys = {project.model("a", sql), project.model("b", sql)}
    found = project.follow()
    assert found.notices == (f"dbt's models have no columns: {notice}",)
    assert found.gaps == dict.fromkeys(sorted(keys), notice)


def test_a_project_without_sql_needs_no_notice() -> None:
    project = DbtProject("mainframe")
    assert project.follow().notices == ()
    assert project.follow().coverage is None
    key = project.model("m", language="python")
    assert project.follow().notices == ()
    assert project.follow().gaps == {key: "a Python model: columns come from Spark's log"}


def test_cycles_and_missing_parents_are_survived() -> None:
    project = DbtProject()
    project.model("a", "select * from db.s.b", reads="model.shop.b model.shop.gone")
    project.model("b", "select id from db.s.a", reads="model.shop.a")
    assert project.edges("b") == "id<-a.id"


@pytest.mark.parametrize("adapter", ["Snowflake", "synapse", "fabricspark", "singlestore"])
def test_adapters_have_a_dialect(adapter: str) -> None:
    assert dialect_of(adapter)


class TestColumnCache:
    @staticmethod
    def project(columns: str = "id") -> DbtProject:
        project = DbtProject()
        project.source("orders", columns)
        project.model("m", "select * from db.raw.orders", reads=ORDERS)
        return project

    @staticmethod
    def run(project: DbtProject, path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[object, int]:
        """The edges, and the number of queries that were parsed."""
        parsed: list[object] = []
        follow = WorkerPool.map

        def counted(pool: object, items: list[object], done: object) -> object:
            parsed.extend(items)
            return follow(pool, items, done)  # type: ignore[arg-type]

        monkeypatch.setattr(WorkerPool, "map", counted)
        cache = ColumnCache(path)
        found = project.follow(cache)
        cache.write()
        monkeypatch.setattr(WorkerPool, "map", follow)
        return found.edges, len(parsed)

    def test_only_what_has_changed_is_parsed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "below" / "cache.json"
        first, parsed = self.run(self.project(), path, monkeypatch)
        assert parsed == 1
        again, parsed = self.run(self.project(), path, monkeypatch)
        assert (again, parsed) == (first, 0)
        other, parsed = self.run(self.project("id amount"), path, monkeypatch)
        assert (other != first, parsed) == (True, 1)

    @pytest.mark.parametrize(
        "content",
        [b"{", b"[]", b"", b"\n{}", b'{"queries": 7}', b"\xff\xfe"],
    )
    def test_a_damaged_file_counts_as_none(
        self, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "cache.json"
        first, _ = self.run(self.project(), path, monkeypatch)
        path.write_bytes(content)
        assert self.run(self.project(), path, monkeypatch) == (first, 1)

    def test_a_damaged_entry_is_followed_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "cache.json"
        first, _ = self.run(self.project(), path, monkeypatch)
        path.write_text(path.read_text().replace('"IDENTITY"', "7"))
        assert self.run(self.project(), path, monkeypatch) == (first, 1)

    def test_it_holds_what_the_last_build_used(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "cache.json"
        self.run(self.project("a"), path, monkeypatch)
        size = path.stat().st_size
        self.run(self.project("b"), path, monkeypatch)
        assert path.stat().st_size == size


@for_each(
    "changed",
    [
        {},
        {"orders": "id x"},
        {"ephemeral": "select amount as id from db.raw.orders"},
        {"sql": "select id, 1 as a from db.raw.orders"},
        {"columns": "id n"},
        {"config": {"contract": {"enforced": True}}},
        {"moved": ORDERS},
        {"moved": "model.shop.t"},
    ],
)
def test_columns_are_as_without_a_cache_of_before_a_change(
    changed: dict[str, Any], tmp_path: Path
) -> None:
    cache = ColumnCache(tmp_path / "cache.json")
    _two_models().follow(cache)
    cache.write()
    expected = _two_models(**changed).follow()

    columns = _two_models(**changed).follow(ColumnCache(tmp_path / "cache.json"))

    for field in ("edges", "gaps", "reads", "starred"):
        assert getattr(columns, field) == getattr(expected, field)
    for key, edges in columns.edges.items():
        assert isinstance(edges, DefinitionEdges)
        before = _two_models().follow().edges[key]
        assert isinstance(before, DefinitionEdges)
        assert (edges.identity == before.identity) <= (edges.columns == before.columns)


def _two_models(
    orders: str = "id amount",
    ephemeral: str = "select id from db.raw.orders",
    sql: str = "select * from db.raw.orders",
    columns: str = "",
    moved: str = "",
    **more: Any,
) -> DbtProject:
    """A model of a source, and one of an ephemeral model of it.

    Args:
        moved: The node whose relation is elsewhere.
    """
    project = DbtProject()
    project.source("orders", orders)
    config = {"materialized": "ephemeral"}
    key = project.model("s", ephemeral, reads=ORDERS, config=config)
    project.model("m", "select id from __dbt__cte__s", columns, reads=key)
    project.model("t", sql, reads=ORDERS, **more)
    if moved:
        project.datasets[moved] = DatasetId("pg", "moved")
    return project


@pytest.mark.parametrize(
    ("sql", "columns", "edges"),
    [
        # Made by the query: each field has its own input.
        (
            "select struct(o.s.a as x, o.id) as o from db.raw.orders as o",
            "o o.x o.id",
            "o.id<-orders.id o.x<-orders.s.a o<-orders.id:T o<-orders.s.a:T",
        ),
        # Copied: the fields are those of the source.
        ("select s as o from db.raw.orders", "o o.a", "o.a<-orders.s.a o<-orders.s"),
        ("select * from db.raw.orders", "s s.a", "s.a<-orders.s.a s<-orders.s"),
        # Made by a function: any input may be in any field.
        ("select f(id) as o from db.raw.orders", "o o.x", "o.x<-orders.id:T o<-orders.id:T"),
    ],
)  # fmt: skip
def test_a_field_of_a_struct_comes_from_a_field(sql: str, columns: str, edges: str) -> None:
    project = DbtProject("bigquery")
    project.source("orders", "id s s.a s.b")
    project.model("m", sql, columns, reads=ORDERS)
    assert project.edges("m").replace("TRANSFORMATION", "T") == edges
    assert project.follow().gaps == {}


def test_a_field_of_an_ephemeral_model_is_that_of_its_source() -> None:
    project = DbtProject("bigquery")
    project.source("orders", "id s")
    ephemeral = project.model(
        "e",
        "select s, struct(id as n) as o from db.raw.orders",
        reads=ORDERS,
        config={"materialized": "ephemeral"},
    )
    project.model("m", "select s.a as x, o.n as y from __dbt__cte__e", reads=ephemeral)
    assert project.edges("m") == "x<-orders.s.a y<-orders.id:TRANSFORMATION"


@pytest.mark.parametrize("adapter", ["bigquery", "clickhouse", "databricks", "duckdb", "trino"])
def test_a_field_is_an_origin_where_the_sql_names_it(adapter: str) -> None:
    project = DbtProject(adapter)
    project.source("orders", "id s")
    project.model("m", "select o.s.a as x, o.s.b + 1 as y from raw.orders as o", reads=ORDERS)
    assert project.edges("m") == "x<-orders.s.a y<-orders.s.b:TRANSFORMATION"
    assert project.follow().gaps == {}
