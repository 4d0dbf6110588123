"""The columns of a table that hold events, by their names or by `columns` in graft.yml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_graft.collectors.sqlserver.files.flat_events import (
    FlatColumnKind,
    are_event_columns,
    flat_column,
)
from dbt_graft.lineage.errors import GraftError

_STATEMENTS = frozenset({"batch_text", "statement"})
# Only events of statements that ended have them.
_OUTCOMES = frozenset({"duration", "row_count", "result"})


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns to read, and what each is to `flat_event`.

    Attributes:
        names: As the table has them.
        labels: What they hold.
        event: The name of all events, where no column has it.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    event: str


def choose_columns(present: list[str], columns: Mapping[str, str], table: str) -> TableColumns:
    """The columns of a table to read.

    Args:
        present: All that it has.
        columns: Label -> column, where a column's name does not show what it holds.
        table: Its name, for errors.

    Raises:
        GraftError: One that is named is not there, or the columns hold no events.
    """
    configured = {actual_name(name, present, table): label for label, name in columns.items()}
    taken = {_role(label) for label in configured.values()}
    if taken:
        taken.add(FlatColumnKind.XML.value)
    labels = {
        name: configured.get(name, name)
        for name in present
        if name in configured or _role(name) not in taken
    }
    roles = {_role(label): name for name, label in labels.items()}
    if FlatColumnKind.XML.value in roles:
        xml = roles[FlatColumnKind.XML.value]
        return TableColumns((xml,), (labels[xml],), "")
    if FlatColumnKind.TEXT.value not in roles and "sql_text" in roles:
        # The input buffer, for sessions that add it in place of the event's own text.
        labels[roles["sql_text"]] = FlatColumnKind.TEXT.value
        roles[FlatColumnKind.TEXT.value] = roles["sql_text"]
    if FlatColumnKind.TIME.value not in roles or FlatColumnKind.TEXT.value not in roles:
        raise GraftError(
            "the table's columns hold no events: they need `event_data`, or `timestamp` and `text`",
            place=table,
            remedy=f"say in `columns` which of these they are: {', '.join(present)}",
        )
    event = ""
    if not are_event_columns(list(labels.values())):
        begun = _OUTCOMES.isdisjoint(roles)
        event = "sql_statement_starting" if begun else "sql_statement_completed"
    return TableColumns(tuple(labels), tuple(labels.values()), event)


def _role(label: str) -> str:
    """The role of a column: the same for all that can replace each other."""
    kind, name, _ = flat_column(label)
    return FlatColumnKind.TEXT.value if name in _STATEMENTS else name or kind.value


def actual_name(name: str, present: list[str], table: str) -> str:
    """A column as the table spells it: most servers ignore case.

    Raises:
        GraftError: It has none of this name.
    """
    if name in present:
        return name
    matches = [column for column in present if column.casefold() == name.casefold()]
    if len(matches) != 1:
        raise GraftError(
            f"the table has no column {name}",
            place=table,
            remedy=f"it has {', '.join(present)}: correct `key` and `columns`",
        )
    return matches[0]
