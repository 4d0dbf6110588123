"""Events are cut out of any text, in parts of any size, and damage costs only what is damaged."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_graft.collectors.sqlserver.event import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    FileSplit,
    LogDamage,
)
from dbt_graft.collectors.sqlserver.files import streams, xml_reader
from dbt_graft.collectors.sqlserver.files.xml_reader import read_xml

ALL = EventFilter()


def one(text: str, *, cdata: bool = True, name: str = "sql_batch_completed") -> str:
    value = f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>" if cdata else escape(text)
    return (
        f'<event name="{name}" package="sqlserver" timestamp="2026-11-20T02:30:01.244Z">'
        f'<data name="batch_text"><value>{value}</value></data></event>'
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.xml"


def parts(file: Path, size: int = 1 << 30, *, escaped: bool = False) -> list[FileSplit]:
    size_of_file = file.stat().st_size
    return [
        FileSplit(
            str(file), "logs/a.xml", "xml", start, min(size_of_file, start + size), escaped=escaped
        )
        for start in range(0, size_of_file, size)
    ]


def chunks(file: Path, size: int = 1 << 30, *, escaped: bool = False) -> Iterator[Chunk]:
    for part in parts(file, size, escaped=escaped):
        yield from read_xml(part, ALL)


def texts(chunks: Iterator[Chunk]) -> list[object]:
    return [event.data["batch_text"] for chunk in chunks for event in chunk.events]


def damages(file: Path) -> list[tuple[str, str]]:
    return [(d.position, d.reason) for chunk in chunks(file) for d in chunk.damages]


ROW = "<row><object_name>x</object_name><event_data>{}</event_data></row>\n"


@pytest.mark.parametrize(
    ("content", "escaped"),
    [
        (one("a") + one("b"), False),
        (one("a") + "\r\n" + one("b", cdata=False) + "\n", False),
        (f'<?xml version="1.0"?>\n<events>\n{one("a")}{one("b")}</events>', False),
        (f"<RingBufferTarget eventCount='2'>{one('a')}{one('b')}</RingBufferTarget>", False),
        ("".join(ROW.format(one(text)) for text in "ab"), False),
        ("".join(ROW.format(f"<![CDATA[{one(text, cdata=False)}]]>") for text in "ab"), False),
        (f"event_data\n----------\n{one('a')}\n{one('b')}\n\n(2 rows affected)", False),
        (f"<eventstream><event_id>1</event_id>{one('a')}{one('b')}", False),
        ("".join(ROW.format(escape(one(text))) for text in "ab"), True),
        ("".join(ROW.format(escape(one(text, cdata=False))) for text in "ab"), True),
        ("".join(f"<row event_data={quoteattr(one(text))}/>" for text in "ab"), True),
        (
            one("a").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
            + one("c")[:5]
            + escape(one("b")),
            True,
        ),
    ],
)
def test_events_are_found_in_whatever_surrounds_them(
    file: Path, content: str, escaped: bool
) -> None:
    file.write_text(content)
    found = list(chunks(file, escaped=escaped))
    assert texts(iter(found)) == ["a", "b"]
    assert sum(chunk.seen for chunk in found) == 2
    assert not any(chunk.damages for chunk in found)


STATEMENTS = st.sampled_from(
    [
        "SELECT 1",
        "</event>",
        "<event name='x'>",
        one("inner", cdata=False),
        one("inner", cdata=False) + "</value></data></event>",
        "a]]>b",
        "]]",
        "<![CDATA[",
        "<event_data>é漢</event_data>",
        "&lt;event &amp;",
    ]
)


@settings(deadline=None)
@given(
    statements=st.lists(st.tuples(STATEMENTS, st.booleans()), max_size=6),
    surrounding=st.sampled_from(["", "\n", "</rows><events>", "<!-- é -->"]),
    size=st.integers(20, 2000),
    piece=st.integers(1, 400),
    escaped=st.booleans(),
)
def test_parts_of_any_size_give_each_event_once(
    tmp_path_factory: pytest.TempPathFactory,
    statements: list[tuple[str, bool]],
    surrounding: str,
    size: int,
    piece: int,
    escaped: bool,
) -> None:
    file = tmp_path_factory.mktemp("logs") / "a.xml"
    events = [one(text, cdata=cdata) for text, cdata in statements]
    content = surrounding.join(escape(event) if escaped else event for event in events)
    file.write_text(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "PIECE", piece)
        found = list(chunks(file, size, escaped=escaped))
    assert texts(iter(found)) == [text for text, _ in statements]
    assert not any(chunk.damages for chunk in found)


NO_END = "the event has no end"
NOT_XML = "the event is not well-formed XML"
BREAKS_OFF = "the event is cut off"


@pytest.mark.parametrize(
    ("damaged", "reasons"),
    [
        (one("x").removesuffix("</event>"), [NO_END]),
        (one("x", cdata=False)[:-30], [NO_END]),
        # A section that was never closed would swallow the event behind it.
        (one("x")[: one("x").index("]]>")], [NO_END]),
        (one("x").replace("]]>", ""), [NO_END]),
        (one("x").replace("</value>", ""), [NOT_XML]),
        (one("&secret;").replace("<![CDATA[", "").replace("]]>", ""), [NOT_XML]),
        (one("x").replace("2026-", "May "), ["the event has no readable time"]),
        ("<event>" * 3, [NO_END] * 3),
        ("]]></value></data></event>", []),
        ('<!DOCTYPE e [<!ENTITY secret SYSTEM "file:///etc/passwd">]>', []),
    ],
)
def test_damage_costs_only_what_is_damaged(file: Path, damaged: str, reasons: list[str]) -> None:
    file.write_text(one("before") + damaged + "\n" + one("after"))
    assert texts(chunks(file)) == ["before", "after"]
    assert [reason for _, reason in damages(file)] == reasons
    if reasons:
        assert damages(file)[0][0] == f"event at byte {len(one('before'))}"
    # Also where a part begins anywhere within it.
    for size in range(50, 600, 7):
        assert texts(chunks(file, size)) == ["before", "after"]


@pytest.mark.parametrize("length", [10, 60, 120, 150, -20, -1])
def test_a_file_that_breaks_off_within_an_event_gives_those_before(file: Path, length: int) -> None:
    file.write_text(one("before") + one("x")[:length])
    assert texts(chunks(file)) == ["before"]
    assert [reason for _, reason in damages(file)] == [BREAKS_OFF]


def test_an_open_section_at_the_end_hides_no_event(file: Path) -> None:
    file.write_text(one("x")[: one("x").index("]]>")] + one("after", cdata=False))
    assert texts(chunks(file)) == ["after"]
    assert [reason for _, reason in damages(file)] == [BREAKS_OFF]


def test_what_is_seen_counts_damaged_and_unwanted_events(file: Path) -> None:
    file.write_text(one("a") + one("b", name="rpc_completed") + one("c")[:-9] + one("d"))
    (chunk,) = read_xml(parts(file)[0], EventFilter(frozenset({"rpc_completed"})))
    assert (len(chunk.events), chunk.seen) == (1, 4)
    # What is damaged may be what was wanted only where its name says so.
    assert chunk.damages == []


def test_no_name_no_filter(file: Path) -> None:
    file.write_text(one("a").replace('name="sql_batch_completed"', "") + one("b"))
    (chunk,) = read_xml(parts(file)[0], EventFilter(frozenset({""})))
    assert len(chunk.events) == 1


@pytest.mark.parametrize(
    ("huge", "closed"),
    [
        ("x", True),
        ("<![CDATA[x", True),
        ("<![CDATA[x", False),
        ("<event", True),
        (" ", False),
    ],
)
def test_an_event_of_any_length_takes_bounded_memory_and_costs_itself(
    file: Path, monkeypatch: pytest.MonkeyPatch, huge: str, closed: bool
) -> None:
    monkeypatch.setattr(xml_reader, "LONGEST", 1 << 20)
    monkeypatch.setattr(streams, "PIECE", 1 << 18)
    with file.open("w") as stream:
        stream.write(one("before"))
        stream.write(one("x")[:110])
        stream.write(huge)
        for _ in range(32):
            stream.write("y" * (1 << 20))
        stream.write("]]>" if "CDATA" in huge and closed else "")
        stream.write("</value></data></event>" if closed else "")
        stream.write(one("after", cdata="CDATA" in huge))
        stream.write(one("last"))
    tracemalloc.start()
    found = list(read_xml(parts(file)[0], ALL))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20
    assert [d.reason for chunk in found for d in chunk.damages] == ["the event is longer than 1 MB"]
    assert texts(iter(found)) == ["before", "after", "last"]


def test_gigabytes_without_an_event_take_no_memory(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "PIECE", 1 << 18)
    with file.open("w") as stream:
        for _ in range(64):
            stream.write("<events ]]> &lt;" + " " * (1 << 17))
    tracemalloc.start()
    assert not list(chunks(file, 2 << 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20


@pytest.mark.parametrize(
    "mark", ["<event ", "<event><![CDATA[", "<![CDATA[", "]]>", "<event></event>"]
)
def test_no_repetition_of_a_mark_takes_more_than_one_look(file: Path, mark: str) -> None:
    count = 100_000
    file.write_text(mark * count)
    seen = sum(chunk.seen for chunk in chunks(file, 200_000))
    assert seen <= count


def test_escaped_once_more_is_read_where_the_split_is_escaped(file: Path) -> None:
    file.write_text(ROW.format(escape(one("a"))))
    assert texts(chunks(file)) == []
    assert texts(chunks(file, escaped=True)) == ["a"]


def test_an_excerpt_of_damaged_escaped_events_is_their_start_tag(file: Path) -> None:
    file.write_text(escape(one("secret"))[:-30])
    (damage,) = [d for chunk in chunks(file, escaped=True) for d in chunk.damages]
    assert isinstance(damage, LogDamage)
    assert damage.excerpt == one("")[: one("").index("<data")]


def test_events_are_read_as_they_are_defined(file: Path) -> None:
    file.write_text(one("a"))
    ((event,),) = [chunk.events for chunk in chunks(file)]
    at = 1_795_141_801 * 10_000_000 + 2_440_000
    assert event == ExtendedEvent("sql_batch_completed", at, {"batch_text": "a"}, {}, "sqlserver")
