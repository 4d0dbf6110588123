"""Commands of plans by name: their operation, and where their arguments have the target.

One table for Spark 2.3 to 4.3 and the connectors that write through it (`connectors` reads their
targets). Versions differ in the names of commands and in the arguments around the target, of which
each layout has a function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum, auto

from dbt_graft.collectors.spark.plans.arguments import (
    bracket_items,
    identifier,
    is_cut,
    split_arguments,
)
from dbt_graft.collectors.spark.sources.connectors import (
    Target,
    catalog_table,
    change_target,
    described_table,
    save_target,
    write_target,
)
from dbt_graft.collectors.spark.sources.jdbc import jdbc_relation
from dbt_graft.collectors.spark.sources.periods import static_partition
from dbt_graft.lineage.dates.partition_dates import Partition
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation

# Prefixes of engines, and the `$` behind names of Scala objects.
_BRAND = re.compile(r"^(?:Gpu|Photon|Comet|Native)(?=[A-Z])|\$$")


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


class CommandRole(Enum):
    """The part of a command in moving data."""

    INSERT = auto()  # writes the rows of its children
    WRAPPER = auto()  # names the target; an execution nested in its own writes the rows
    SAVE = auto()  # names the target; its reads are below it or in nested executions
    VIEW = auto()  # defines a query; its inputs are in its logical plan
    LIFECYCLE = auto()  # creates, alters or drops a dataset
    RENAME = auto()  # moves a dataset to another name
    MAINTENANCE = auto()  # inspects or tunes: its reads go nowhere


@frozen
class Command:
    """A row of the table: a command's role, its target's reader, and its operation.

    Attributes:
        target: Reads the target from the command's arguments.
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


_CREATE_TABLE = Command(CommandRole.LIFECYCLE, created_table, Operation.CREATE_TABLE)
_APPEND = Command(CommandRole.SAVE, write_target, Operation.INSERT)
_OVERWRITE = Command(CommandRole.SAVE, write_target, Operation.INSERT_OVERWRITE)
_AS_SELECT = Command(CommandRole.SAVE, catalog_table, Operation.CREATE_TABLE_AS)

COMMANDS: Mapping[str, Command] = {
    "InsertIntoHadoopFsRelationCommand": Command(CommandRole.INSERT, hadoop_files),
    "InsertIntoHiveTable": Command(CommandRole.INSERT, hive_insert),
    "InsertIntoHiveDirCommand": Command(CommandRole.INSERT, directory),
    "InsertIntoDataSourceDirCommand": Command(
        CommandRole.SAVE, directory, Operation.INSERT_OVERWRITE
    ),
    "SaveAsV1TableCommand": Command(CommandRole.WRAPPER, table_with_mode),
    "CreateDataSourceTableAsSelectCommand": Command(CommandRole.WRAPPER, saved_table),
    "CreateHiveTableAsSelectCommand": Command(CommandRole.WRAPPER, hive_table_as_select),
    "OptimizedCreateHiveTableAsSelectCommand": Command(CommandRole.WRAPPER, hive_table_as_select),
    "CreateViewCommand": Command(CommandRole.VIEW, view_target, Operation.CREATE_VIEW),
    "AlterViewAsCommand": Command(CommandRole.VIEW, view_target, Operation.CREATE_VIEW),
    "LoadDataCommand": Command(CommandRole.LIFECYCLE, loaded_table, Operation.LOAD_DATA),
    "CreateTableCommand": _CREATE_TABLE,
    "CreateDataSourceTableCommand": _CREATE_TABLE,
    "CreateTableLikeCommand": Command(CommandRole.LIFECYCLE, table_like, Operation.CREATE_TABLE),
    "CreateDeltaTableCommand": Command(CommandRole.SAVE, change_target, Operation.CREATE_TABLE),
    "TruncateTableCommand": Command(CommandRole.LIFECYCLE, named_table, Operation.TRUNCATE),
    "DropTableCommand": Command(CommandRole.LIFECYCLE, dropped_table, Operation.DROP),
    "DropTable": Command(CommandRole.LIFECYCLE, dropped_table_v2, Operation.DROP),
    "TruncateTable": Command(CommandRole.LIFECYCLE, truncated_table_v2, Operation.TRUNCATE),
    "AlterTable": Command(CommandRole.LIFECYCLE, catalog_table, Operation.ALTER),
    "RenameTable": Command(CommandRole.RENAME, renamed_table_v2, Operation.RENAME),
    "CreateTable": Command(CommandRole.LIFECYCLE, catalog_table, Operation.CREATE_TABLE),
    "ReplaceTable": Command(CommandRole.LIFECYCLE, catalog_table, Operation.CREATE_TABLE),
    "AtomicReplaceTable": Command(CommandRole.LIFECYCLE, catalog_table, Operation.CREATE_TABLE),
    "AlterTableRecoverPartitionsCommand": Command(CommandRole.MAINTENANCE, no_target),
    "AlterTableRenameCommand": Command(CommandRole.RENAME, renamed_table, Operation.RENAME),
    "SaveIntoDataSourceCommand": Command(CommandRole.SAVE, save_target),
    "InsertIntoDataSourceCommand": Command(CommandRole.SAVE, data_source),
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
    "Call": Command(CommandRole.MAINTENANCE, no_target),
}
# Procedures of Iceberg that are no maintenance: other tables or files become a table's.
_PROCEDURES = re.compile(r"\b(?:AddFiles|MigrateTable|SnapshotTable)(?:Procedure)?\b")
# Commands by the start of their names.
_FAMILIES: Mapping[str, Command] = {
    "AlterTable": Command(CommandRole.LIFECYCLE, named_table, Operation.ALTER),
    **dict.fromkeys(
        (
            *("Add", "Alter", "Analyze", "Cache", "Clear", "Comment", "CreateDatabase"),
            *("CreateFunction", "CreateNamespace", "CreateTempView", "CreateVariable", "Delta"),
            *("Desc", "DropDatabase"),
            *("DropFunction", "DropNamespace", "DropTempView", "DropVariable", "Explain", "List"),
            *("Refresh", "Repair", "Reset", "Set", "Show", "Uncache", "Use"),
            # Delta's and Iceberg's maintenance of their own files.
            *("Convert", "Optimize", "Vacuum", "Restore", "ReorgTable", "UnsetTable"),
        ),
        Command(CommandRole.MAINTENANCE, no_target),
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


def unread_procedure(command: str, text: str) -> str:
    """The procedure that a command calls, if it moves data without a rule for it; else empty."""
    match = _PROCEDURES.search(text) if command == "Call" else None
    return match.group() if match else ""


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
    if target and target.columns and is_cut(arguments):
        return replace(target, is_cut=True)
    return target
