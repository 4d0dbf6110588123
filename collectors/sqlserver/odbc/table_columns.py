"""Which columns of a table tell events, by their own names or as graft.yml says."""

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
# Only events of what has ended have them.
_OUTCOMES = frozenset({"duration", "row_count", "result"})


@dataclass(frozen=True, slots=True)
class TableColumns:
    """Which columns to read, and what each is to `flat_event`.

    Attributes:
        names: As the table has them.
        labels: What they hold.
        event: The name of all events, where no column has it.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    event: str


def choose_columns(present: list[str], columns: Mapping[str, str], table: str) -> TableColumns:
    """Which of a table's columns to read.

    Args:
        present: All that it has.
        columns: What stands in which of them, where their names do not say so.
        table: Its name, for errors.

    Raises:
        GraftError: One that is named is not there, or they tell no events.
    """
    said = {actual_name(name, present, table): label for label, name in columns.items()}
    taken = {_meaning(label) for label in said.values()}
    if taken:
        taken.add(FlatColumnKind.XML.value)
    labels = {
        name: said.get(name, name)
        for name in present
        if name in said or _meaning(name) not in taken
    }
    told = {_meaning(label): name for name, label in labels.items()}
    if FlatColumnKind.XML.value in told:
        xml = told[FlatColumnKind.XML.value]
        return TableColumns((xml,), (labels[xml],), "")
    if FlatColumnKind.TEXT.value not in told and "sql_text" in told:
        # The whole input, where a session was told to add that instead of what an event has.
        labels[told["sql_text"]] = FlatColumnKind.TEXT.value
        told[FlatColumnKind.TEXT.value] = told["sql_text"]
    if FlatColumnKind.TIME.value not in told or FlatColumnKind.TEXT.value not in told:
        raise GraftError(
            "the table's columns tell no events: they need `event_data`, or `timestamp` and `text`",
            place=table,
            remedy=f"say in `columns` which of these they are: {', '.join(present)}",
        )
    event = ""
    if not are_event_columns(list(labels.values())):
        begun = _OUTCOMES.isdisjoint(told)
        event = "sql_statement_starting" if begun else "sql_statement_completed"
    return TableColumns(tuple(labels), tuple(labels.values()), event)


def _meaning(label: str) -> str:
    """What a column is read for: the same for all that stand for each other."""
    kind, name, _ = flat_column(label)
    return FlatColumnKind.TEXT.value if name in _STATEMENTS else name or kind.value


def actual_name(name: str, present: list[str], table: str) -> str:
    """A column as the table spells it: most servers do not tell upper from lower case.

    Raises:
        GraftError: It has none of this name.
    """
    if name in present:
        return name
    found = [one for one in present if one.casefold() == name.casefold()]
    if len(found) != 1:
        raise GraftError(
            f"the table has no column {name}",
            place=table,
            remedy=f"it has {', '.join(present)}: correct `key` and `columns`",
        )
    return found[0]
