"""An event as one row or one flat object -> `ExtendedEvent`: its columns by their names.

The viewer of SQL Server Management Studio exports its grid: `name`, `timestamp`, then fields and
actions side by side, `attach_activity_id` as `….guid` and `….seq`. Queries that take the XML apart
choose other names. Case, spaces and punctuation do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from dbt_graft.collectors.name_tables import words_in_order
from dbt_graft.collectors.sqlserver.event import EventFilter, ExtendedEvent, LogDamage, Value
from dbt_graft.collectors.sqlserver.files.xml_events import is_wanted, parse_event, ticks

NO_TIME = (
    "the event has no time that can be read: export it as ISO 8601, like 2026-11-20T02:30:01.244Z"
)


class FlatColumnKind(Enum):
    """The kind of a column. TEXT is a statement, in the event's field for it."""

    NAME = "name"
    TIME = "time"
    XML = "xml"
    TEXT = "text"
    DATA = "data"
    ACTION = "action"


class FlatColumn(NamedTuple):
    """A column of a table of events.

    Attributes:
        rank: Of several columns for one thing, the lowest counts.
    """

    kind: FlatColumnKind
    name: str = ""
    rank: int = 0


_NAMES = ("name", "eventname", "event", "eventtype", "eventclass", "objectname")
# The viewer's `timestamp` is in the time zone of the person who exported it, often unnamed.
_TIMES = words_in_order("""
    timestamputc utctimestamp eventtimestamputc eventtimeutc collectsystemtime timestamp
    eventtimestamp eventtime collecttime datetime time""")
_XML = ("eventdata", "eventdataxml", "eventxml", "xmldata")
_TEXTS = ("textdata", "details", "text", "statementtext", "query", "querytext", "sqlstatement")
_ACTIONS = words_in_order("""
    attach_activity_id attach_activity_id.guid attach_activity_id.seq attach_activity_id_xfer
    client_app_name client_connection_id client_hostname client_pid collect_system_time
    database_id database_name event_sequence is_system nt_username plan_handle query_hash
    query_plan_hash request_id server_instance_name server_principal_name session_id
    session_nt_username session_server_principal_name sql_text transaction_id tsql_stack
    username""")
_ACTION_ALIASES = {
    "applicationname": "client_app_name",
    "appname": "client_app_name",
    "application": "client_app_name",
    "programname": "client_app_name",
    "database": "database_name",
    "dbname": "database_name",
    "hostname": "client_hostname",
    "loginname": "server_principal_name",
    "ntusername": "nt_username",
    "sequence": "event_sequence",
    "spid": "session_id",
    "activityid": "attach_activity_id",
}
_DATA = words_in_order("""
    batch_text category connection_reset_option cpu_time data_stream destination duration
    error_number is_intercepted is_recovered last_row_count line_number logical_reads message
    nest_level object_id object_name object_type offset offset_end options_text output_parameters
    parameterized_plan_handle physical_reads result row_count severity source_database_id spills
    state statement transaction_state transaction_type user_defined writes""")
_DATA_ALIASES = {"cpu": "cpu_time", "rowcounts": "row_count", "rows": "row_count"}
_PUNCTUATION = re.compile(r"[\W_]+")
_DOTTED = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4}),? +(\d\d?)(:.+)", re.ASCII)


def _squash(label: str) -> str:
    return _PUNCTUATION.sub("", label).casefold()


_KNOWN = (
    {_squash(name): FlatColumn(FlatColumnKind.DATA, name) for name in _DATA}
    | {alias: FlatColumn(FlatColumnKind.DATA, name) for alias, name in _DATA_ALIASES.items()}
    | {_squash(name): FlatColumn(FlatColumnKind.ACTION, name) for name in _ACTIONS}
    | {alias: FlatColumn(FlatColumnKind.ACTION, name) for alias, name in _ACTION_ALIASES.items()}
    | {label: FlatColumn(FlatColumnKind.TEXT) for label in _TEXTS}
    | {label: FlatColumn(FlatColumnKind.XML) for label in _XML}
    | {label: FlatColumn(FlatColumnKind.TIME, rank=rank) for rank, label in enumerate(_TIMES)}
    | {label: FlatColumn(FlatColumnKind.NAME, rank=rank) for rank, label in enumerate(_NAMES[:-1])}
)


@lru_cache(maxsize=4096)
def flat_column(label: str) -> FlatColumn:
    """The column of a label; an unknown one is a field of that name."""
    return _KNOWN.get(_squash(label)) or FlatColumn(FlatColumnKind.DATA, label.strip())


def are_event_columns(labels: list[str]) -> bool:
    """Whether columns of these names hold an event a row."""
    kinds = {flat_column(label).kind for label in labels}
    named = FlatColumnKind.NAME in kinds or any(
        flat_column(label).name == "object_name" for label in labels
    )
    return FlatColumnKind.XML in kinds or (named and FlatColumnKind.TIME in kinds)


def flat_event(
    fields: Mapping[str, Value], wanted: EventFilter
) -> ExtendedEvent | LogDamage | None:
    """A row's event; None where it is not wanted.

    A time that names no zone is UTC. Values that are empty or `NULL` are left out.
    """
    data: dict[str, Value] = {}
    actions: dict[str, Value] = {}
    best: dict[FlatColumnKind, tuple[int, str]] = {}
    for label, value in fields.items():
        if value is None or value == "" or value == "NULL":
            continue
        kind, name, rank = flat_column(label)
        if kind is FlatColumnKind.DATA:
            data.setdefault(name, value)
        elif kind is FlatColumnKind.ACTION:
            actions.setdefault(name, value)
        elif kind not in best or rank < best[kind][0]:
            best[kind] = (rank, str(value))
    if FlatColumnKind.XML in best:
        return xml_event(best[FlatColumnKind.XML][1], wanted)
    name = (
        best[FlatColumnKind.NAME][1]
        if FlatColumnKind.NAME in best
        else str(data.pop("object_name", ""))
    )
    at = local_ticks(best[FlatColumnKind.TIME][1]) if FlatColumnKind.TIME in best else None
    if FlatColumnKind.TEXT in best:
        data.setdefault(
            "batch_text" if "batch" in name else "statement", best[FlatColumnKind.TEXT][1]
        )
    _join_activity(actions)
    event = ExtendedEvent(name, at or 0, data, actions)
    if not is_wanted(event, wanted):
        return None
    if not name:
        return LogDamage("", "the event has no name")
    return LogDamage("", NO_TIME) if at is None else event


def xml_event(text: str, wanted: EventFilter) -> ExtendedEvent | LogDamage | None:
    """The event in a column that holds its XML; None where it is not wanted."""
    event = parse_event(text)
    return event if isinstance(event, LogDamage) or is_wanted(event, wanted) else None


def local_ticks(text: str) -> int | None:
    """A time in units of 100 ns since 1970, in ISO 8601 or a form that can mean one day only."""
    text = text.strip()
    time = ticks(text)
    if time is None and (dotted := _DOTTED.fullmatch(text)):
        day, month, year, hour, rest = dotted.groups()
        time = ticks(f"{year}-{month:0>2}-{day:0>2} {hour:0>2}{rest}")
    return time


def _join_activity(actions: dict[str, Value]) -> None:
    guid = actions.pop("attach_activity_id.guid", None)
    number = actions.pop("attach_activity_id.seq", None)
    if guid is not None and number is not None:
        actions.setdefault("attach_activity_id", str(guid).strip("{}") + "-" + str(number))
