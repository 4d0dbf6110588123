"""Targets of commands, read from the arguments in a plan: one function a layout of arguments."""

from __future__ import annotations

import re
from dataclasses import replace

from dbt_graft.collectors.spark.plans.arguments import bracket_items, identifier
from dbt_graft.collectors.spark.sources.connectors import (
    Target,
    catalog_table,
    described_table,
    write_target,
)
from dbt_graft.collectors.spark.sources.jdbc import jdbc_relation
from dbt_graft.collectors.spark.sources.periods import static_partition
from dbt_graft.lineage.dates.partition_dates import Partition

_MODES = frozenset({"Append", "Overwrite", "ErrorIfExists", "Ignore"})
_STORAGE = re.compile(r"Storage\(.*?\bLocation: (?P<path>[^,)]+)")
_HIVE_TABLE = re.compile(
    r"\[(?:Database: ?(?P<database>[^,\]}]+)\}?, )?TableName: (?P<table>[^,\]]+)"
)
_VIEW_TYPE = re.compile(r"\b(?:PersistedView|LocalTempView|GlobalTempView)\b")


def _table_name(argument: str) -> tuple[str, ...]:
    """`` `c`.`db`.`t` ``, or the description of the table, `CatalogTable(…)`."""
    return described_table(argument) or identifier(argument)


def table_with_mode(args: list[str]) -> Target:
    mode = next((arg for arg in args if arg in _MODES), "")
    return Target(_table_name(args[0]), mode=mode, columns=_last_list(args[1:]))


def _last_list(args: list[str]) -> tuple[str, ...]:
    """The columns; RAPIDS adds flags behind them."""
    lists = [arg for arg in args if arg.startswith("[")]
    return tuple(bracket_items(lists[-1])) if lists else ()


def named_table(args: list[str]) -> Target:
    return Target(_table_name(args[0]))


def hadoop_files(args: list[str]) -> Target:
    """`file:/t, [ds=…], false, [dt#3], Parquet, [path=…], Append, `c`.`db`.`t`, …, [id, dt]`"""
    at = next((at for at, arg in enumerate(args) if arg in _MODES), len(args) - 1)
    behind = args[at + 1 :]
    named = [arg for arg in behind[:1] if arg.startswith(("`", "CatalogTable("))]
    return Target(
        _table_name(named[0]) if named else (),
        args[0],
        _last_list(behind),
        mode=args[at],
        partitions=_static_partitions(args[1:2]),
    )


def hive_insert(args: list[str]) -> Target:
    """`` `c`.`db`.`t`, serde, [dt=Some(1)], overwrite, ifPartitionNotExists, [columns], …``"""
    flags = [at for at, arg in enumerate(args) if arg in ("true", "false")]
    mode = "Overwrite" if flags and args[flags[0]] == "true" else "Append"
    after = args[flags[-1] + 1] if flags and flags[-1] + 1 < len(args) else ""
    columns = tuple(bracket_items(after)) if after.startswith("[") else ()
    before = args[1 : flags[0]] if flags else []
    partitions = _static_partitions([arg for arg in before if arg.startswith("[")])
    return Target(_table_name(args[0]), columns=columns, mode=mode, partitions=partitions)


def _static_partitions(arguments: list[str]) -> tuple[Partition, ...]:
    """The partition whose values a write has in its arguments."""
    return tuple(partition for arg in arguments[:1] if (partition := static_partition(arg)))


def hive_table_as_select(args: list[str]) -> Target | None:
    match = _HIVE_TABLE.search(", ".join(args))
    if match is None:
        return None
    return Target((match["database"] or "default", match["table"]))


def directory(args: list[str]) -> Target | None:
    match = _STORAGE.search(", ".join(args))
    return Target(path=match["path"], mode="Overwrite") if match else None


def no_target(_: list[str]) -> None:
    return None


def view_target(args: list[str]) -> Target | None:
    """None for views of the session: later plans have them resolved."""
    # The view's SQL comes before its type and may hold any text.
    kinds = _VIEW_TYPE.findall(", ".join(args))
    if kinds and kinds[-1] != "PersistedView":
        return None
    return Target(identifier(args[0]), columns=_view_columns(args[1]), is_view=True)


def _view_columns(argument: str) -> tuple[str, ...]:
    """`[(who,None), (spent,Some(in euros))]`: the column names that `CREATE VIEW` lists."""
    named = bracket_items(argument) if argument.startswith("[(") else []
    return tuple(column.removeprefix("(").partition(",")[0] for column in named)


def dropped_table(args: list[str]) -> Target:
    """`` `c`.`db`.`t`, ifExists, isView, purge``"""
    flags = [arg == "true" for arg in args[1:3]]
    return Target(identifier(args[0]), if_exists=flags[:1] == [True], is_view=flags[1:] == [True])


def dropped_table_v2(args: list[str]) -> Target:
    """`V2SessionCatalog(spark_catalog), db.t, ifExists, purge, …`"""
    return replace(catalog_table(args), if_exists=args[2] == "true")


def truncated_table_v2(args: list[str]) -> Target | None:
    """`cat.db.t, …` as the table calls itself, or `catalog.Class@hash, db.t`"""
    return write_target(args) or (catalog_table(args) if "@" in args[0] else None)


def renamed_table_v2(args: list[str]) -> Target:
    """`catalog.Class@hash, db.old, db.new, …`"""
    return replace(catalog_table([args[0], args[2]]), source_table=identifier(args[1]))


def renamed_table(args: list[str]) -> Target:
    return Target(identifier(args[1]), source_table=identifier(args[0]))


def loaded_table(args: list[str]) -> Target:
    """`` `c`.`db`.`t`, path, isLocal, isOverwrite``"""
    return Target(identifier(args[0]), source_path=args[1])


def table_like(args: list[str]) -> Target:
    """`` `c`.`db`.`t`, `c`.`db`.`source`, …``"""
    return Target(identifier(args[0]), source_table=identifier(args[1]))


def data_source(args: list[str]) -> Target | None:
    """`Relation c.db.t[id#1] JDBCRelation(s.t) [numPartitions=1], overwrite`"""
    table = jdbc_relation(args[0])
    mode = "Overwrite" if args[-1] == "true" else "Append"
    if table:
        return Target(external=table, mode=mode)
    named = identifier(args[0].removeprefix("Relation").strip())
    return Target(named, mode=mode) if named else None


def saved_table(args: list[str]) -> Target | None:
    """`` `db`.`t`, mode, …``; in Spark 2 the table's description comes first."""
    return table_with_mode(args) if not args[0].startswith("CatalogTable(") else write_target(args)


def created_table(args: list[str]) -> Target | None:
    """`` `c`.`db`.`t`, false``; in Spark 2 the description of the table"""
    return named_table(args) if not args[0].startswith("CatalogTable(") else write_target(args)
