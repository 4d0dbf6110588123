"""An event as one row or one flat object -> `Event`: which columns say what, by whatever names.

The viewer of SQL Server Management Studio exports its grid: `name`, `timestamp`, then fields and
actions side by side, `attach_activity_id` as `….guid` and `….seq`. Queries that take the XML apart
choose names of their own. Case, spaces and punctuation never matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.event import Damage, Event, Value, Wanted
from dbt_graft.collectors.sqlserver.files.xml_events import event, is_wanted, ticks

NO_TIME = (
    "the event has no time that can be read: export it as ISO 8601, like 2026-11-20T02:30:01.244Z"
)


class Kind(Enum):
    """What a column holds. TEXT is a statement, of whichever field the event has it in."""

    NAME = "name"
    TIME = "time"
    XML = "xml"
    TEXT = "text"
    DATA = "data"
    ACTION = "action"


class Column(NamedTuple):
    """What a column holds.

    Attributes:
        name: The field or action.
        rank: Of several columns for the same, the lowest counts.
    """

    kind: Kind
    name: str = ""
    rank: int = 0


_NAMES = ("name", "eventname", "event", "eventtype", "eventclass", "objectname")
# The viewer's own `timestamp` is in the time zone of whoever exported it, and may not say so.
_TIMES = (
    "timestamputc",
    "utctimestamp",
    "eventtimestamputc",
    "eventtimeutc",
    "collectsystemtime",
    "timestamp",
    "eventtimestamp",
    "eventtime",
    "collecttime",
    "datetime",
    "time",
)
_XML = ("eventdata", "eventdataxml", "eventxml", "xmldata")
_TEXTS = ("textdata", "details", "text", "statementtext", "query", "querytext", "sqlstatement")
_ACTIONS = (
    "attach_activity_id",
    "attach_activity_id.guid",
    "attach_activity_id.seq",
    "attach_activity_id_xfer",
    "client_app_name",
    "client_connection_id",
    "client_hostname",
    "client_pid",
    "collect_system_time",
    "database_id",
    "database_name",
    "event_sequence",
    "is_system",
    "nt_username",
    "plan_handle",
    "query_hash",
    "query_plan_hash",
    "request_id",
    "server_instance_name",
    "server_principal_name",
    "session_id",
    "session_nt_username",
    "session_server_principal_name",
    "sql_text",
    "transaction_id",
    "tsql_stack",
    "username",
)
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
_DATA = (
    "batch_text",
    "category",
    "connection_reset_option",
    "cpu_time",
    "data_stream",
    "destination",
    "duration",
    "error_number",
    "is_intercepted",
    "last_row_count",
    "line_number",
    "logical_reads",
    "message",
    "nest_level",
    "object_id",
    "object_name",
    "object_type",
    "offset",
    "offset_end",
    "output_parameters",
    "parameterized_plan_handle",
    "physical_reads",
    "result",
    "row_count",
    "severity",
    "source_database_id",
    "spills",
    "state",
    "statement",
    "transaction_state",
    "transaction_type",
    "user_defined",
    "writes",
)
_DATA_ALIASES = {"cpu": "cpu_time", "rowcounts": "row_count", "rows": "row_count"}
_PUNCTUATION = re.compile(r"[\W_]+")
_DOTTED = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4}),? +(\d\d?)(:.+)", re.ASCII)


def _squashed(label: str) -> str:
    return _PUNCTUATION.sub("", label).casefold()


_KNOWN = (
    {_squashed(name): Column(Kind.DATA, name) for name in _DATA}
    | {alias: Column(Kind.DATA, name) for alias, name in _DATA_ALIASES.items()}
    | {_squashed(name): Column(Kind.ACTION, name) for name in _ACTIONS}
    | {alias: Column(Kind.ACTION, name) for alias, name in _ACTION_ALIASES.items()}
    | {label: Column(Kind.TEXT) for label in _TEXTS}
    | {label: Column(Kind.XML) for label in _XML}
    | {label: Column(Kind.TIME, rank=rank) for rank, label in enumerate(_TIMES)}
    | {label: Column(Kind.NAME, rank=rank) for rank, label in enumerate(_NAMES[:-1])}
)


@lru_cache(maxsize=4096)
def column(label: str) -> Column:
    """What a column holds; what is not known is a field of its own."""
    return _KNOWN.get(_squashed(label)) or Column(Kind.DATA, label.strip())


def tells_events(labels: list[str]) -> bool:
    """Whether columns of these names hold an event a row."""
    kinds = {column(label).kind for label in labels}
    named = Kind.NAME in kinds or any(column(label).name == "object_name" for label in labels)
    return Kind.XML in kinds or (named and Kind.TIME in kinds)


def flat_event(fields: Mapping[str, Value], wanted: Wanted) -> Event | Damage | None:
    """A row's event; None where it is not wanted.

    A time that names no zone is UTC. What is empty or `NULL` is left out.
    """
    data: dict[str, Value] = {}
    actions: dict[str, Value] = {}
    best: dict[Kind, tuple[int, str]] = {}
    for label, value in fields.items():
        if value is None or value == "" or value == "NULL":
            continue
        kind, name, rank = column(label)
        if kind is Kind.DATA:
            data.setdefault(name, value)
        elif kind is Kind.ACTION:
            actions.setdefault(name, value)
        elif kind not in best or rank < best[kind][0]:
            best[kind] = (rank, str(value))
    if Kind.XML in best:
        return xml_event(best[Kind.XML][1], wanted)
    name = best[Kind.NAME][1] if Kind.NAME in best else str(data.pop("object_name", ""))
    at = local_ticks(best[Kind.TIME][1]) if Kind.TIME in best else None
    if Kind.TEXT in best:
        data.setdefault("batch_text" if "batch" in name else "statement", best[Kind.TEXT][1])
    _join_activity(actions)
    found = Event(name, at or 0, data, actions)
    if not is_wanted(found, wanted):
        return None
    if not name:
        return Damage("", "the event has no name")
    return Damage("", NO_TIME) if at is None else found


def xml_event(text: str, wanted: Wanted) -> Event | Damage | None:
    """The event in a column that holds its XML; None where it is not wanted."""
    found = event(text)
    return found if isinstance(found, Damage) or is_wanted(found, wanted) else None


def local_ticks(text: str) -> int | None:
    """A time in units of 100 ns since 1970, in ISO 8601 or a form that can mean one day only."""
    text = text.strip()
    found = ticks(text)
    if found is None and (dotted := _DOTTED.fullmatch(text)):
        day, month, year, hour, rest = dotted.groups()
        found = ticks(f"{year}-{month:0>2}-{day:0>2} {hour:0>2}{rest}")
    return found


def _join_activity(actions: dict[str, Value]) -> None:
    guid = actions.pop("attach_activity_id.guid", None)
    number = actions.pop("attach_activity_id.seq", None)
    if guid is not None and number is not None:
        actions.setdefault("attach_activity_id", str(guid).strip("{}") + "-" + str(number))
