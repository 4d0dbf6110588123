"""Events of any types and texts: written to a file, read from it, and through XML back again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbt_graft.collectors.sqlserver.event import Chunk, ExtendedEvent, Mapped, Mask, Value
from dbt_graft.collectors.sqlserver.files.event_text import timestamp, to_xml, value_text
from dbt_graft.collectors.sqlserver.files.xel.values import LATEST
from dbt_graft.collectors.sqlserver.files.xml_events import parse_event
from tests.collectors.sqlserver.xel_session import BASE, Map, Session
from tests.collectors.sqlserver.xel_writer import (
    UNIX_EPOCH,
    event_block,
    file_header,
    metadata_blocks,
    record,
)

START = BASE - UNIX_EPOCH
MAPS = {
    "colour": Map(1, {0: "red", 1: "green", 2: "blue", 7: ""}),
    "wide": Map(8, {1: "one", 4_000_000_000: "many"}),
    "rights": Map(4, {1: "read", 2: "write", 4: "run", 1 << 31: "own"}),
}


def integers(bits: int, *, signed: bool) -> st.SearchStrategy[int]:
    return (
        st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
        if signed
        else st.integers(0, (1 << bits) - 1)
    )


def addresses(count: int) -> st.SearchStrategy[str]:
    address = integers(64, signed=False).map("0x{:016x}".format)
    return st.lists(address, min_size=1, max_size=count).map("\n".join)


def as_utf_16(text: str) -> str:
    """As it comes back: half a surrogate pair is no character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


GUIDS = st.uuids(allow_nil=True).map(lambda guid: str(guid).upper())
ACTIVITIES = st.builds("{}-{}".format, GUIDS, integers(32, signed=False))
TEXTS = (st.text() | st.text(st.characters(codec=None), max_size=50)).map(as_utf_16)
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    **{f"int{bits}": integers(bits, signed=True) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": integers(bits, signed=False) for bits in (8, 16, 32, 64)},
    "float32": st.floats(width=32, allow_nan=False),
    "float64": st.floats(allow_nan=False),
    "boolean": st.booleans(),
    "char": st.characters(max_codepoint=255),
    "wchar": st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]),
    "ptr": addresses(1),
    "cpu_cycle": integers(64, signed=False),
    "filetime": st.integers(-UNIX_EPOCH, LATEST - 1).map(timestamp)
    | st.integers(UNIX_EPOCH + LATEST, (1 << 64) - 1),
    "activity_id": ACTIVITIES,
    "activity_id_xfer": ACTIVITIES,
    "guid": st.none() | GUIDS,
    "guid_ptr": st.none() | GUIDS,
    **dict.fromkeys(("unicode_string", "unicode_string_ptr", "xml"), TEXTS),
    **dict.fromkeys(("ansi_string", "ansi_string_ptr"), st.text()),
    "binary_data": st.binary(),
    "callstack": st.just("") | addresses(9),
    "strange": st.binary(min_size=6, max_size=6),
    "colour": st.integers(0, 255).map(lambda n: Mapped(n, MAPS["colour"].texts.get(n, ""))),
    "wide": st.sampled_from([Mapped(1, "one"), Mapped(4_000_000_000, "many"), Mapped(1 << 63, "")]),
    "rights": st.sampled_from(
        [Mask(2, "write"), Mask(7, "read,write,run"), Mask(0, ""), Mask(9, "read")]
    ),
}


@st.composite
def captures(draw: st.DrawFn) -> tuple[Session, list[ExtendedEvent]]:
    """A session of some event types, and events of them."""
    kinds = st.lists(st.sampled_from(sorted(VALUES)), max_size=8)
    types = {
        f"event_{n}": {f"column_{m}": kind for m, kind in enumerate(draw(kinds))} for n in range(2)
    }
    actions = {f"action_{n}": kind for n, kind in enumerate(draw(kinds))}
    session = Session(
        types,
        actions,
        MAPS,
        UUID(int=draw(integers(128, signed=False))),
        base=BASE,
        first_id=draw(st.integers(1, 200)),
    )
    events = []
    for name in draw(st.lists(st.sampled_from(sorted(types)), min_size=1, max_size=6)):
        data = {column: draw(VALUES[kind]) for column, kind in types[name].items()}
        more = {action: draw(VALUES[kind]) for action, kind in actions.items()}
        at = START + draw(st.integers(0, 10**17))
        # Twice: what repeats the actions before it is decoded in another way.
        events += [ExtendedEvent(name, at, data, more)] * draw(st.integers(1, 3))
    return session, events


@settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(capture=captures(), sector=st.sampled_from([0x200, 0x1000]))
def test_what_was_written_is_read_and_is_the_same_as_xml(
    capture: tuple[Session, list[ExtendedEvent]], sector: int, read_bytes: Callable[..., Chunk]
) -> None:
    session, events = capture
    records = b"".join(record(event, session) for event in events)
    data = file_header(sector) + metadata_blocks(session, sector)
    content = read_bytes(data + event_block(records, session, sector))
    assert content.damages == []
    assert content.events == events
    for event in content.events:
        again = parse_event(to_xml(event))
        assert isinstance(again, ExtendedEvent)
        assert again[:2] == event[:2]
        assert written(again.data) == written(event.data)
        assert written(again.actions) == written(event.actions)


def written(fields: Mapping[str, Value]) -> dict[str, tuple[str, str]]:
    """Values as XML can carry them; of a mask and a number with a name, both halves."""
    return {
        name: (
            (str(value.value), value.text)
            if isinstance(value, Mapped)
            else (re.sub("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", value_text(value)), "")
        )
        for name, value in fields.items()
    }


def test_xml_is_written_as_sql_server_does() -> None:
    event = ExtendedEvent(
        "error_reported",
        1_700_000_000_123_0000,
        {
            "error_number": 208,
            "user_defined": False,
            "category": Mapped(2, "SERVER"),
            "destination": Mask(2, "USER"),
            "message": "Invalid <object> 'a' & \"b\"\r\n\0",
            "handle": b"\x06\xab",
            "ratio": 0.5,
            "nothing": "",
        },
        {"session_id": 51, "event_sequence": 7},
    )
    assert to_xml(event) == (
        '<event name="error_reported" package="sqlserver" timestamp="2023-11-14T22:13:20.123Z">'
        '<data name="error_number"><value>208</value></data>'
        '<data name="user_defined"><value>false</value></data>'
        '<data name="category"><value>2</value><text>SERVER</text></data>'
        '<data name="destination"><value>0x00000002</value><text>USER</text></data>'
        '<data name="message"><value>Invalid &lt;object&gt; \'a\' &amp; "b"&#x0D;\n\ufffd</value>'
        "</data>"
        '<data name="handle"><value>06ab</value></data>'
        '<data name="ratio"><value>0.5</value></data>'
        '<data name="nothing"><value/></data>'
        '<action name="session_id" package="sqlserver"><value>51</value></action>'
        '<action name="event_sequence" package="package0"><value>7</value></action>'
        "</event>"
    )
