"""The source code of a task: where it reads, where it writes, and what of what.

Names of tables are those that the code writes; `lineage.building.code_columns` finds the datasets.
No literal of the code is in here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Masking, Subtype

# The parts of a table's name as the code writes it, without quotes; a path is one part.
TableName = tuple[str, ...]
# Stands in a name for a part that only a run knows. A word, so that SQL with it can be parsed.
UNKNOWN_PART = "graft_unknown_part"
_PARTITIONS = re.compile(r"(?:/[^/=]+=[^/]*)*/*\Z")
MADE_AT_RUN_TIME = "the name of its table or file is made at run time"


def is_path_name(table: TableName) -> bool:
    """Whether a name is that of a file or folder."""
    return len(table) == 1 and "/" in table[0]


def is_made_at_run_time(table: TableName) -> bool:
    """Whether a name has parts that only a run knows; of a path the end of its folder decides."""
    if is_path_name(table):
        return _PARTITIONS.sub("", table[0]).endswith(UNKNOWN_PART)
    return any(UNKNOWN_PART in part for part in table)


def name_text(table: TableName) -> str:
    """A name for people: `shop.dbo.orders`, `…/mart/totals.parquet`."""
    return ".".join(filter(None, table)).replace(UNKNOWN_PART, "…")


@dataclass(frozen=True, slots=True, order=True)
class CodePlace:
    """A line of a file; the file as a path below the folder that holds `graft.yml`."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@frozen
class CodeRead:
    """A query, table or file that the code reads.

    Attributes:
        shape_id: The shape of the query as logs have it; empty where that is not known.
    """

    place: CodePlace
    tables: tuple[TableName, ...]
    shape_id: str = ""


@frozen
class CodeWrite:
    """A table or file that the code writes.

    Attributes:
        columns: Those that the code names.
        is_open: There are further columns, which the code does not name.
        shape_id: As of a read; empty where a library makes the statement, too.
        task: The task of Airflow, in a file of several, whose operator does it.
    """

    place: CodePlace
    table: TableName
    columns: tuple[str, ...] = ()
    is_open: bool = False
    shape_id: str = ""
    task: str = ""


@frozen
class CodeEdge:
    """A column that the code reads has a part in one that it writes.

    Attributes:
        to_column, from_column: `*` as in a `lineage.records.ColumnEdge`: an INDIRECT edge to `*`
            decides on rows, a DIRECT one from `*` to `*` passes on the columns that the code does
            not name, under their own names.
        place: The line that makes the column of what was read.
        without: The columns that an edge of `*` does not pass on: dropped, renamed, replaced.
        others: Tables that it may be from instead: exactly one of all has the column.
    """

    to_table: TableName
    to_column: str
    from_table: TableName
    from_column: str
    subtype: Subtype
    place: CodePlace
    masked_by: Masking = Masking.NONE
    without: tuple[str, ...] = ()
    others: tuple[TableName, ...] = ()


@frozen
class CodeGap:
    """A line that could not be followed, and why.

    Attributes:
        to_table: The table whose columns are not complete for it; empty where none is known.
        column: The column that it leaves unknown; `*` for any.
    """

    place: CodePlace
    reason: str
    to_table: TableName = ()
    column: str = ""


@frozen
class TaskCode:
    """The code of a task: its script, and what it does.

    Attributes:
        file: The script.
        digest: A hash of the script and of all files that it uses; empty where none was made.
        syntax: A hash of what they do: comments, layout and docstrings do not count.
        elsewhere: The functions that other tasks of the script alone call, which do not count; line
            0 is all of a file.
    """

    file: str
    digest: str = ""
    syntax: str = ""
    reads: tuple[CodeRead, ...] = ()
    writes: tuple[CodeWrite, ...] = ()
    edges: tuple[CodeEdge, ...] = ()
    gaps: tuple[CodeGap, ...] = ()
    elsewhere: tuple[CodePlace, ...] = ()


def code_of_task(codes: Mapping[str, TaskCode], task: str) -> TaskCode:
    """The code of a task among those of a file, by the ids of Airflow's tasks in it.

    Args:
        codes: That of all the file has an empty id; an id may have parts that only a run knows.
        task: Its name: its id, or that behind its groups and its DAG. Of a name that the file does
            not have, all of it is the code.
    """
    return codes[id_of_task(codes, task)]


def id_of_task(ids: Iterable[str], task: str) -> str:
    """The id of a task by its name, among those of a file; empty if the file does not have it."""
    fitting = [task_id for task_id in ids if task_id and _id_pattern(task_id).fullmatch(task)]
    return max(fitting, key=_clearness, default="")


def _clearness(task_id: str) -> tuple[bool, int, str]:
    return UNKNOWN_PART not in task_id, len(task_id), task_id


def _id_pattern(task_id: str) -> re.Pattern[str]:
    return re.compile(r"(?:.*\.)?" + ".*".join(map(re.escape, task_id.split(UNKNOWN_PART))))


@frozen
class CodeDifference:
    """The code says something else than the logs.

    Attributes:
        dataset: The table that it is about, as the logs name it; None where they have none.
        is_seen: Runs were seen to do what the code does not have; else the code has what no run
            was seen to do.
    """

    place: CodePlace
    problem: str
    dataset: DatasetId | None = None
    is_seen: bool = False


@frozen
class CodeMatch:
    """The code of a task, and how far it agrees with the logs.

    Attributes:
        verified: Columns that its runs wrote from memory and the code explains.
        declared: Columns that it writes and no run was seen to write.
        unexplained: Columns that its runs wrote from memory and the code does not explain.
        apart: Pairs of a dataset that it reads and one that it writes from memory, between which
            no data flows: both are explained without each other.
    """

    code: TaskCode
    verified: int = 0
    declared: int = 0
    unexplained: int = 0
    apart: tuple[tuple[DatasetId, DatasetId], ...] = ()
    differences: tuple[CodeDifference, ...] = ()
