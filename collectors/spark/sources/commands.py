"""Commands of plans by name: their operation, and where their arguments have the target.

One table for Spark 2.3 to 4.3 and the connectors that write through it (`connectors` reads their
targets). Versions differ in the names of commands and in the arguments around the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from dbt_graft.collectors.spark.plans.arguments import bracketed, identifier, split_arguments
from dbt_graft.collectors.spark.sources.connectors import (
    Target,
    catalog_table,
    change_target,
    described_table,
    save_target,
    write_target,
)
from dbt_graft.collectors.spark.sources.jdbc import jdbc_relation
from dbt_graft.lineage.operations import Operation

_MODES = frozenset({"Append", "Overwrite", "ErrorIfExists", "Ignore"})
_STORAGE = re.compile(r"Storage\(.*?\bLocation: (?P<path>[^,)]+)")
_HIVE_TABLE = re.compile(
    r"\[(?:Database: ?(?P<database>[^,\]}]+)\}?, )?TableName: (?P<table>[^,\]]+)"
)
_VIEW_TYPE = re.compile(r"\b(?:PersistedView|LocalTempView|GlobalTempView)\b")
# Prefixes of engines, and the `$` behind names of Scala objects.
_BRAND = re.compile(r"^(?:Gpu|Photon|Comet|Native)(?=[A-Z])|\$$")


class CommandRole(Enum):
    """The part of a command in moving data."""

    INSERT = auto()  # writes the rows of its children
    WRAPPER = auto()  # names the target; an execution nested in its own writes the rows
    SAVE = auto()  # names the target; what it reads is below it, or nested in its own execution
    VIEW = auto()  # defines a query; its inputs are in its logical plan
    LIFECYCLE = auto()  # creates, alters or drops a dataset
    RENAME = auto()  # moves a dataset to another name
    MAINTENANCE = auto()  # inspects or tunes: its reads go nowhere


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table: a command's role, its target's reader, and its operation.

    Attributes:
        target: Reads the target from the command's arguments.
        operation: None where the save mode decides.
    """

    role: CommandRole
    target: Callable[[list[str]], Target | None]
    operation: Operation | None = None

    def operation_of(self, target: Target) -> Operation:
        """The operation, by the save mode where the command leaves it open."""
        if self.operation:
            return self.operation
        if self.role is CommandRole.WRAPPER and target.table:
            return Operation.INSERT if target.mode == "Append" else Operation.CREATE_TABLE_AS
        return Operation.INSERT_OVERWRITE if target.mode == "Overwrite" else Operation.INSERT


def _table_name(argument: str) -> tuple[str, ...]:
    """`` `c`.`db`.`t` ``, or the description of the table, `CatalogTable(…)`."""
    return described_table(argument) or identifier(argument)


def _table_with_mode(args: list[str]) -> Target:
    mode = next((arg for arg in args if arg in _MODES), "")
    return Target(_table_name(args[0]), mode=mode, columns=_last_list(args[1:]))


def _last_list(args: list[str]) -> tuple[str, ...]:
    """The columns; RAPIDS adds flags behind them."""
    lists = [arg for arg in args if arg.startswith("[")]
    return tuple(bracketed(lists[-1])) if lists else ()


def _name(args: list[str]) -> Target:
    return Target(_table_name(args[0]))


def _hadoop_files(args: list[str]) -> Target:
    """`file:/t, false, [dt#3], Parquet, [path=…], Append, `c`.`db`.`t`, …, [id, dt]`"""
    at = next((at for at, arg in enumerate(args) if arg in _MODES), len(args) - 1)
    behind = args[at + 1 :]
    named = [arg for arg in behind[:1] if arg.startswith(("`", "CatalogTable("))]
    return Target(
        _table_name(named[0]) if named else (), args[0], _last_list(behind), mode=args[at]
    )


def _hive_insert(args: list[str]) -> Target:
    """`` `c`.`db`.`t`, serde, [dt=Some(1)], overwrite, ifPartitionNotExists, [columns], …``"""
    flags = [at for at, arg in enumerate(args) if arg in ("true", "false")]
    mode = "Overwrite" if flags and args[flags[0]] == "true" else "Append"
    after = args[flags[-1] + 1] if flags and flags[-1] + 1 < len(args) else ""
    columns = tuple(bracketed(after)) if after.startswith("[") else ()
    return Target(_table_name(args[0]), columns=columns, mode=mode)


def _hive_table_as_select(args: list[str]) -> Target | None:
    found = _HIVE_TABLE.search(", ".join(args))
    if found is None:
        return None
    return Target((found["database"] or "default", found["table"]))


def _storage(args: list[str]) -> Target | None:
    found = _STORAGE.search(", ".join(args))
    return Target(path=found["path"], mode="Overwrite") if found else None


def _nowhere(_: list[str]) -> None:
    return None


def _view(args: list[str]) -> Target | None:
    """None for views of the session: later plans have them resolved."""
    # The view's SQL comes before its type and may hold any text.
    kinds = _VIEW_TYPE.findall(", ".join(args))
    if kinds and kinds[-1] != "PersistedView":
        return None
    return Target(identifier(args[0]), columns=_view_columns(args[1]), is_view=True)


def _view_columns(argument: str) -> tuple[str, ...]:
    """`[(who,None), (spent,Some(in euros))]`: the column names that `CREATE VIEW` lists."""
    named = bracketed(argument) if argument.startswith("[(") else []
    return tuple(one.removeprefix("(").partition(",")[0] for one in named)


def _drop(args: list[str]) -> Target:
    """`` `c`.`db`.`t`, ifExists, isView, purge``"""
    flags = [arg == "true" for arg in args[1:3]]
    return Target(identifier(args[0]), if_exists=flags[:1] == [True], is_view=flags[1:] == [True])


def _drop_v2(args: list[str]) -> Target:
    """`V2SessionCatalog(spark_catalog), db.t, ifExists, purge, …`"""
    return replace(catalog_table(args), if_exists=args[2] == "true")


def _truncate_v2(args: list[str]) -> Target | None:
    """`cat.db.t, …` as the table calls itself, or `catalog.Class@hash, db.t`"""
    return write_target(args) or (catalog_table(args) if "@" in args[0] else None)


def _rename_v2(args: list[str]) -> Target:
    """`catalog.Class@hash, db.old, db.new, …`"""
    return replace(catalog_table([args[0], args[2]]), source_table=identifier(args[1]))


def _rename(args: list[str]) -> Target:
    return Target(identifier(args[1]), source_table=identifier(args[0]))


def _load(args: list[str]) -> Target:
    """`` `c`.`db`.`t`, path, isLocal, isOverwrite``"""
    return Target(identifier(args[0]), source_path=args[1])


def _like(args: list[str]) -> Target:
    """`` `c`.`db`.`t`, `c`.`db`.`source`, …``"""
    return Target(identifier(args[0]), source_table=identifier(args[1]))


def _into_source(args: list[str]) -> Target | None:
    """`Relation c.db.t[id#1] JDBCRelation(s.t) [numPartitions=1], overwrite`"""
    found = jdbc_relation(args[0])
    mode = "Overwrite" if args[-1] == "true" else "Append"
    if found:
        return Target(external=found, mode=mode)
    named = identifier(args[0].removeprefix("Relation").strip())
    return Target(named, mode=mode) if named else None


def _save_as_table(args: list[str]) -> Target | None:
    """`` `db`.`t`, mode, …``; in Spark 2 the description of the table comes first."""
    return _table_with_mode(args) if not args[0].startswith("CatalogTable(") else write_target(args)


def _create(args: list[str]) -> Target | None:
    """`` `c`.`db`.`t`, false``; in Spark 2 the description of the table"""
    return _name(args) if not args[0].startswith("CatalogTable(") else write_target(args)


_CREATE_TABLE = Command(CommandRole.LIFECYCLE, _create, Operation.CREATE_TABLE)
_APPEND = Command(CommandRole.SAVE, write_target, Operation.INSERT)
_OVERWRITE = Command(CommandRole.SAVE, write_target, Operation.INSERT_OVERWRITE)
_AS_SELECT = Command(CommandRole.SAVE, catalog_table, Operation.CREATE_TABLE_AS)

COMMANDS: Mapping[str, Command] = {
    "InsertIntoHadoopFsRelationCommand": Command(CommandRole.INSERT, _hadoop_files),
    "InsertIntoHiveTable": Command(CommandRole.INSERT, _hive_insert),
    "InsertIntoHiveDirCommand": Command(CommandRole.INSERT, _storage),
    "InsertIntoDataSourceDirCommand": Command(
        CommandRole.SAVE, _storage, Operation.INSERT_OVERWRITE
    ),
    "SaveAsV1TableCommand": Command(CommandRole.WRAPPER, _table_with_mode),
    "CreateDataSourceTableAsSelectCommand": Command(CommandRole.WRAPPER, _save_as_table),
    "CreateHiveTableAsSelectCommand": Command(CommandRole.WRAPPER, _hive_table_as_select),
    "OptimizedCreateHiveTableAsSelectCommand": Command(CommandRole.WRAPPER, _hive_table_as_select),
    "CreateViewCommand": Command(CommandRole.VIEW, _view, Operation.CREATE_VIEW),
    "AlterViewAsCommand": Command(CommandRole.VIEW, _view, Operation.CREATE_VIEW),
    "LoadDataCommand": Command(CommandRole.LIFECYCLE, _load, Operation.LOAD_DATA),
    "CreateTableCommand": _CREATE_TABLE,
    "CreateDataSourceTableCommand": _CREATE_TABLE,
    "CreateTableLikeCommand": Command(CommandRole.LIFECYCLE, _like, Operation.CREATE_TABLE),
    "CreateDeltaTableCommand": Command(CommandRole.SAVE, change_target, Operation.CREATE_TABLE),
    "TruncateTableCommand": Command(CommandRole.LIFECYCLE, _name, Operation.TRUNCATE),
    "DropTableCommand": Command(CommandRole.LIFECYCLE, _drop, Operation.DROP),
    "DropTable": Command(CommandRole.LIFECYCLE, _drop_v2, Operation.DROP),
    "TruncateTable": Command(CommandRole.LIFECYCLE, _truncate_v2, Operation.TRUNCATE),
    "AlterTable": Command(CommandRole.LIFECYCLE, catalog_table, Operation.ALTER),
    "RenameTable": Command(CommandRole.RENAME, _rename_v2, Operation.RENAME),
    "CreateTable": Command(CommandRole.LIFECYCLE, catalog_table, Operation.CREATE_TABLE),
    "ReplaceTable": Command(CommandRole.LIFECYCLE, catalog_table, Operation.CREATE_TABLE),
    "AtomicReplaceTable": Command(CommandRole.LIFECYCLE, catalog_table, Operation.CREATE_TABLE),
    "AlterTableRecoverPartitionsCommand": Command(CommandRole.MAINTENANCE, _nowhere),
    "AlterTableRenameCommand": Command(CommandRole.RENAME, _rename, Operation.RENAME),
    "SaveIntoDataSourceCommand": Command(CommandRole.SAVE, save_target),
    "InsertIntoDataSourceCommand": Command(CommandRole.SAVE, _into_source),
    "AppendData": _APPEND,
    "AppendDataExecV1": _APPEND,
    "OverwriteByExpression": _OVERWRITE,
    "OverwriteByExpressionExecV1": _OVERWRITE,
    "OverwritePartitionsDynamic": _OVERWRITE,
    "ReplaceData": Command(CommandRole.SAVE, write_target, Operation.MERGE),
    "WriteDelta": Command(CommandRole.SAVE, write_target, Operation.MERGE),
    "CreateTableAsSelect": _AS_SELECT,
    "ReplaceTableAsSelect": _AS_SELECT,
    "AtomicCreateTableAsSelect": _AS_SELECT,
    "AtomicReplaceTableAsSelect": _AS_SELECT,
    "DeleteFromTable": Command(CommandRole.LIFECYCLE, write_target, Operation.DELETE),
    "WriteIntoDeltaCommand": Command(CommandRole.SAVE, change_target),
    **{
        f"{verb}{command}": Command(CommandRole.SAVE, change_target, operation)
        for verb, operation in (
            ("MergeInto", Operation.MERGE),
            ("Delete", Operation.DELETE),
            ("DeleteFrom", Operation.DELETE),
            ("Update", Operation.UPDATE),
        )
        for command in ("Command", "CommandEdge", "HoodieTableCommand")
    },
    "CreateHoodieTableAsSelectCommand": Command(
        CommandRole.SAVE, change_target, Operation.CREATE_TABLE_AS
    ),
    "InsertIntoHoodieTableCommand": Command(CommandRole.SAVE, change_target, Operation.INSERT),
}
# Commands by the start of their names.
_FAMILIES: Mapping[str, Command] = {
    "AlterTable": Command(CommandRole.LIFECYCLE, _name, Operation.ALTER),
    **dict.fromkeys(
        (
            *("Add", "Alter", "Analyze", "Cache", "Clear", "Comment", "CreateDatabase"),
            *("CreateFunction", "CreateNamespace", "CreateTempView", "CreateVariable", "Delta"),
            *("Desc", "DropDatabase"),
            *("DropFunction", "DropNamespace", "DropTempView", "DropVariable", "Explain", "List"),
            *("Refresh", "Repair", "Reset", "Set", "Show", "Uncache", "Use"),
            # Delta's and Iceberg's maintenance of their own files.
            *("Convert", "Optimize", "Vacuum", "Restore", "Call", "ReorgTable", "UnsetTable"),
        ),
        Command(CommandRole.MAINTENANCE, _nowhere),
    ),
}
# Operators that write, but are not named like commands; there is no rule for them.
_UNKNOWN_WRITES = ("Merge", "WriteToDataSourceV2", "WriteToContinuousDataSource")
# Parts of commands that have a rule.
_NOT_WRITES = ("MergeRows", "WriteToDataSourceV2")


def find_command(name: str) -> tuple[str, Command] | None:
    """Return the name of the command that an operator of `sparkPlanInfo` runs, and its rule.

    Raises:
        LookupError: There is no rule for the command.
    """
    full = name.removeprefix("Execute ").partition(" ")[0]
    bare = _BRAND.sub("", full)
    if command := COMMANDS.get(bare):
        return bare, command
    if full == name.partition(" ")[0]:
        if bare.startswith(_UNKNOWN_WRITES) and bare not in _NOT_WRITES:
            raise LookupError(bare)
        return None
    for family, command in _FAMILIES.items():
        if bare.startswith(family):
            return bare, command
    raise LookupError(bare)


def read_target(command: Command, arguments: str) -> Target | None:
    """Return the target of a command; None where it writes no dataset.

    Raises:
        ValueError: The arguments are not as expected.
    """
    try:
        target = command.target(split_arguments(arguments))
    except IndexError as error:
        raise ValueError("its arguments are not as expected") from error
    if target and not target.is_known:
        raise ValueError("it names no target")
    return target
