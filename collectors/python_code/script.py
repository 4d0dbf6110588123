"""The result of following a script: its sources, its targets, and the columns between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.code import CodePlace
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Masking, Subtype

# Stands for a column where only the number of a source's rows is used.
NUMBER_OF_ROWS = ""
# A file of the project by its path below the root -> its content; None if there is none.
ReadFile = Callable[[str], bytes | None]


class Medium(StrEnum):
    """The form in which a script names what it reads or writes; a choice is one of its sources."""

    STATEMENT = "statement"
    TABLE = "table"
    FILE = "file"
    CHOICE = "choice"


@frozen
class ScriptSource:
    """A query, table or file that a script reads.

    Attributes:
        text: The SQL, the dotted name of a table, or a path, with `UNKNOWN_PART` for what is not
            known; markers of parameters are `?`.
        is_repeated: The line does so several times: what is not known of the text may be several.
        choices: Places of the sources of a choice. Exactly one of them has each of its columns.
        task: The task of Airflow, in a file of several, whose work it is.
    """

    place: CodePlace
    medium: Medium
    text: str
    dialect: Dialect = Dialect.TSQL
    is_repeated: bool = False
    choices: tuple[int, ...] = ()
    task: str = ""


@frozen
class ScriptTarget:
    """A statement, table or file by which a script writes.

    Attributes:
        columns: The columns that it sends, of a statement those that parameters go into.
        is_open: It sends further columns of its sources: those that edges of `*` pass on.
        is_repeated, task: As of a source.
    """

    place: CodePlace
    medium: Medium
    text: str
    columns: tuple[str, ...] = ()
    is_open: bool = False
    dialect: Dialect = Dialect.TSQL
    is_repeated: bool = False
    task: str = ""


@frozen
class ScriptEdge:
    """A column of a source has a part in a column of a target; see `lineage.code.CodeEdge`.

    Attributes:
        target, source: Places in the script's targets and sources.
    """

    target: int
    column: str
    source: int
    from_column: str
    subtype: Subtype
    place: CodePlace
    masked_by: Masking = Masking.NONE
    without: tuple[str, ...] = ()


@frozen
class ScriptGap:
    """A line that could not be followed, and why.

    Attributes:
        target: The target whose columns are not complete for it; None where none is known.
        column: The column that it leaves unknown; `*` for any.
        task: As of a source.
    """

    place: CodePlace
    reason: str
    target: int | None = None
    column: str = ""
    task: str = ""


@frozen
class CalledFunction:
    """A function that a script calls.

    Attributes:
        mentions: The names in its body.
        tasks: The tasks of Airflow in which it is called; an empty one where it is so outside of
            them, or in a task that hands a result on.
    """

    name: str
    mentions: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()


@frozen
class Script:
    """A script that was followed.

    Attributes:
        tasks: The ids of the tasks of Airflow in it, sorted.
        functions: Those that it calls, by their places.
        files: Those that it reads or asks for, and the tasks that do, as of a called function.
    """

    sources: tuple[ScriptSource, ...] = ()
    targets: tuple[ScriptTarget, ...] = ()
    edges: tuple[ScriptEdge, ...] = ()
    gaps: tuple[ScriptGap, ...] = ()
    tasks: tuple[str, ...] = ()
    functions: Mapping[CodePlace, CalledFunction] = field(default_factory=dict)
    files: Mapping[str, frozenset[str]] = field(default_factory=dict)
