"""Commands of plans by name: their operation, and where their arguments have the target.

One table for Spark 2.3 to 4.3 and the connectors that write through it (`connectors` reads their
targets). Versions differ in the names of commands and in the arguments around the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum, auto

from dbt_graft.collectors.spark.plans.arguments import is_cut, split_arguments
from dbt_graft.collectors.spark.sources.command_targets import (
    created_table,
    data_source,
    directory,
    dropped_table,
    dropped_table_v2,
    hadoop_files,
    hive_insert,
    hive_table_as_select,
    loaded_table,
    named_table,
    no_target,
    renamed_table,
    renamed_table_v2,
    saved_table,
    table_like,
    table_with_mode,
    truncated_table_v2,
    view_target,
)
from dbt_graft.collectors.spark.sources.connectors import (
    Target,
    catalog_table,
    change_target,
    save_target,
    write_target,
)
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation

# Prefixes of engines, and the `$` behind names of Scala objects.
_BRAND = re.compile(r"^(?:Gpu|Photon|Comet|Native)(?=[A-Z])|\$$")


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
