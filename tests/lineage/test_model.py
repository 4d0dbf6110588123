"""The lineage as everybody reads it, built from records."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind, parse_dataset_id
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import NameRule, NameRules
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Records,
    Run,
    Status,
    Subtype,
    TaskInfo,
)
from dbt_graft.lineage.settings import LineageSettings
from tests import notation
from tests.lineage.samples import Samples

DAY = datetime(2026, 11, 1, tzinfo=UTC)


def access(task: str, direction: Direction, name: str, **known: Any) -> Access:
    operation = Operation.INSERT if direction is Direction.WRITE else Operation.SELECT
    known = {"operation": operation, "task": task, "shape_id": f"{task}-shape", "at": DAY, **known}
    return notation.access(dataset=parse_dataset_id(name), **known)


READ, WRITE = Direction.READ, Direction.WRITE


def test_a_reader_depends_on_the_writer_of_what_it_reads() -> None:
    lineage = build(
        Records(
            accesses=(
                access("load", WRITE, "db/a"),
                access("use", READ, "db/a"),
                access("use", WRITE, "db/b"),
            )
        )
    )
    assert lineage.task_graph().levels() == [["load"], ["use"]]
    assert lineage.dataset_graph().edges == [(DatasetId("db", "a"), DatasetId("db", "b"))]


def test_name_rules_join_what_two_engines_call_differently() -> None:
    rules = NameRules([NameRule("mssql://s:1433/DW.dbo.*", "spark/raw.*")])
    lineage = build(
        Records(
            accesses=(
                access("load", WRITE, "mssql://s:1433/DW.dbo.Orders"),
                access("use", READ, "spark/raw.orders"),
            ),
            datasets=(Dataset(DatasetId("mssql://s:1433", "DW.dbo.Orders"), Kind.TABLE),),
        ),
        rename=rules,
    )
    assert list(lineage.datasets) == [DatasetId("spark", "raw.orders")]
    assert lineage.task_graph().edges == [("load", "use")]


def test_a_failed_attempt_is_listed_and_moves_nothing() -> None:
    failed = access("load", WRITE, "db/a", status=Status.FAILED)
    lineage = build(Records(accesses=(failed, access("load", READ, "db/x"))))
    task = lineage.tasks["load"]
    assert task.writes == []
    assert lineage.flows == ()
    assert [usage.failed for usage in task.usages if usage.direction is WRITE] == [True]


def test_failed_statements_count_where_that_is_wanted() -> None:
    failed = [
        access("load", direction, name, status=Status.FAILED)
        for direction, name in ((READ, "db/x"), (WRITE, "db/a"))
    ]
    x, a = DatasetId("db", "x"), DatasetId("db", "a")
    identity = Subtype.IDENTITY
    edge = ColumnEdge("load", a, "n", x, "n", identity.type, identity, False, "load-shape")
    records = Records(accesses=tuple(failed), column_edges=(edge,))
    left_out, counted = build(records), build(records, settings=LineageSettings(failed=True))
    assert (left_out.flows, left_out.column_edges, left_out.writer_names()) == ((), (), {})
    assert [(flow.source, flow.target) for flow in counted.flows] == [(x, a)]
    assert counted.column_edges == (edge,)
    assert counted.writer_names() == {a: ["load"]}


def test_a_usage_lists_its_procedures() -> None:
    lineage = build(
        Records(
            accesses=(
                access("load", WRITE, "db/a", procedure="Shop.dbo.q", shape_id="q"),
                access("load", WRITE, "db/a", procedure="Shop.dbo.p", shape_id="p"),
                access("load", WRITE, "db/a"),
            )
        )
    )
    (usage,) = lineage.tasks["load"].usages
    assert usage.procedures == ("Shop.dbo.p", "Shop.dbo.q")


def test_emptying_a_table_does_not_make_a_task_its_writer() -> None:
    lineage = build(
        Records(accesses=(access("clean", WRITE, "db/a", operation=Operation.TRUNCATE),))
    )
    assert lineage.writer_names() == {}


def test_rows_are_those_of_the_last_run() -> None:
    later = DAY + timedelta(days=1)
    lineage = build(
        Records(
            accesses=(
                access("load", WRITE, "db/a", rows=10),
                access("load", WRITE, "db/a", run_id="load-2", rows=3, last_at=later),
                access("load", WRITE, "db/a", run_id="load-2", rows=4, shape_id="x", last_at=later),
            )
        )
    )
    (usage,) = lineage.tasks["load"].usages
    assert (usage.rows, usage.statements, usage.last_at) == (7, 3, later)


def test_runs_come_newest_first_and_people_s_words_with_them() -> None:
    runs = tuple(
        Run(f"r{day}", "load", "spark", started_at=DAY + timedelta(days=day)) for day in (1, 3, 2)
    )
    lineage = build(Records(runs=runs), settings=LineageSettings({"load": TaskInfo(owner="data")}))
    assert [run.run_id for run in lineage.tasks["load"].runs] == ["r3", "r2", "r1"]
    assert lineage.tasks["load"].info.owner == "data"


def test_columns_keep_the_type_that_any_log_knows() -> None:
    orders = DatasetId("db", "a")
    lineage = build(
        Records(
            datasets=(
                Dataset(orders, columns=(Column("id"), Column("amount"))),
                Dataset(orders, columns=(Column("ID", "int"),)),
            )
        )
    )
    assert lineage.datasets[orders].columns == (Column("id", "int"), Column("amount"))


def test_a_temporary_table_is_no_dataset_of_the_lineage() -> None:
    lineage = build(
        Records(
            accesses=(access("load", WRITE, "db/#t", kind=Kind.TEMPORARY),),
            runs=(Run("load-1", "load", "sqlserver"),),
        ),
    )
    assert lineage.datasets == {}
    assert lineage.tasks["load"].usages == ()


def test_merging_keeps_both_sides_and_is_the_same_either_way_round() -> None:
    a = build(Records(accesses=(access("load", READ, "db/x"), access("load", WRITE, "db/a"))))
    b = build(Records(accesses=(access("use", READ, "db/a"), access("use", WRITE, "db/b"))))
    assert a.merge(b) == b.merge(a)
    assert a.merge(b).task_graph().edges == [("load", "use")]
    assert a.merge(Lineage()) == a


def test_each_field_of_both_sides_survives_a_merge() -> None:
    a, b = Samples(1).make(Lineage), Samples(10_000).make(Lineage)
    assert repr(a.merge(Lineage())) == repr(Lineage().merge(a)) == repr(a)
    for ours, theirs, value in zip(_values(a), _values(b), _values(a.merge(b)), strict=True):
        if isinstance(value, int):
            assert value == ours + theirs
        else:
            assert {*value} == {*ours, *theirs}


def _values(record: Any) -> Iterator[Any]:
    """The values of all fields, and of those of parts."""
    for part in fields(record):
        value = getattr(record, part.name)
        yield from _values(value) if is_dataclass(value) else [value]


def test_the_path_of_a_tables_files_is_the_table() -> None:
    table, path = DatasetId("spark", "raw.orders"), DatasetId("s3://lake", "raw/orders")
    written = access("land", WRITE, str(path), kind=Kind.PATH)
    read = access("score", READ, str(table))
    records = Records(
        accesses=(written, read),
        datasets=(Dataset(path, Kind.PATH), Dataset(table, symlinks=(path,))),
    )

    lineage = build(records)

    (dataset,) = lineage.datasets.values()
    assert (dataset.id, dataset.kind, dataset.symlinks) == (table, Kind.TABLE, (path,))
    assert lineage.writer_names() == {table: ["land"]}


def test_a_path_with_tables_on_it_by_two_names_stays_a_path() -> None:
    path = DatasetId("s3://lake", "raw/orders")
    written = access("land", WRITE, str(path), kind=Kind.PATH)
    tables = (Dataset(DatasetId("spark", name), symlinks=(path,)) for name in ("a.t", "b.t"))
    lineage = build(Records(accesses=(written,), datasets=tuple(tables)))
    assert lineage.datasets[path].kind is Kind.PATH
