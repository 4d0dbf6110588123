"""An event as text: the XML that SQL Server's file target gives, and JSON."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from dbt_graft.collectors.name_tables import words_in_order
from dbt_graft.collectors.sqlserver.event import ExtendedEvent, Mapped, Mask, Value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The package of an action; that of the others is sqlserver.
_PACKAGES = dict.fromkeys(
    words_in_order("""
        attach_activity_id attach_activity_id_xfer callstack collect_cpu_cycle_time
        collect_current_thread_id collect_system_time event_sequence last_error process_id"""),
    "package0",
) | dict.fromkeys(
    words_in_order("""
        cpu_id numa_node_id scheduler_address scheduler_id system_thread_id task_address
        task_elapsed_quantum task_resource_group_id task_resource_pool_id task_time
        worker_address"""),
    "sqlos",
)
_NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# XML readers make one line feed of these, and spaces of them in attributes.
_ENTITIES = {"\r": "&#x0D;"}
_IN_ATTRIBUTES = {"\r": "&#x0D;", "\n": "&#x0A;", "\t": "&#x09;"}


def timestamp(at: int) -> str:
    """A time as `2026-11-21T02:15:00.1234567Z`."""
    microseconds, rest = divmod(at, 10)
    time = _EPOCH + timedelta(microseconds=microseconds)
    return f"{time:%Y-%m-%dT%H:%M:%S.%f}{rest}Z"


def to_json(event: ExtendedEvent) -> dict[str, Any]:
    """An event as JSON values: binary as `0x…`, a mapped value as number and text."""
    return {
        "name": event.name,
        "timestamp": timestamp(event.at),
        "package": event.package,
        "data": {name: _json(value) for name, value in event.data.items()},
        "actions": {name: _json(value) for name, value in event.actions.items()},
    }


def _json(value: Value) -> Any:
    if isinstance(value, Mapped):
        return value._asdict()
    return f"0x{value.hex()}" if isinstance(value, bytes) else value


def to_xml(event: ExtendedEvent) -> str:
    """An event as the `<event>` element of SQL Server, on one line unless a text has several.

    The time has three digits as there, seven where three would lose something. A character that XML
    cannot carry becomes U+FFFD. A column of type xml is text here: events hold no types.
    """
    at = timestamp(event.at)
    at = f"{at[:-5]}Z" if at.endswith("0000Z") else at
    fields = [
        f"<data name={_quote(name)}>{_xml(value)}</data>" for name, value in event.data.items()
    ]
    for name, value in event.actions.items():
        package = _PACKAGES.get(name, "sqlserver")
        fields.append(f'<action name={_quote(name)} package="{package}">{_xml(value)}</action>')
    head = f'<event name={_quote(event.name)} package={_quote(event.package)} timestamp="{at}">'
    return f"{head}{''.join(fields)}</event>"


def value_text(value: Value) -> str:
    """A value as SQL Server writes it into XML; of a mapped one, the number."""
    if isinstance(value, Mask):
        return f"0x{value.value:08x}"
    if isinstance(value, Mapped):
        return str(value.value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _xml(value: Value) -> str:
    text = value_text(value)
    element = f"<value>{_escape(text)}</value>" if text else "<value/>"
    return f"{element}<text>{_escape(value.text)}</text>" if isinstance(value, Mapped) else element


def _escape(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text), _ENTITIES)


def _quote(text: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", text), _IN_ATTRIBUTES)
