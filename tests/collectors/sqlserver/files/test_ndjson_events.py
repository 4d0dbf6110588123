"""Lines of JSON are events, each once whatever the parts, and a bad line costs itself."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_graft.collectors.sqlserver.event import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    FileSplit,
    Mapped,
)
from dbt_graft.collectors.sqlserver.files import ndjson_events, streams
from dbt_graft.collectors.sqlserver.files.ndjson_events import LineSplitter, read_ndjson
from tests.cases import for_each

AT = 1_795_141_801 * 10_000_000
TIME = '"timestamp":"2026-11-20T02:30:01Z"'


def chunks(file: Path, size: int = 1 << 30) -> list[Chunk]:
    size_of_file = file.stat().st_size
    parts = (
        FileSplit(str(file), "a", "ndjson", start, min(size_of_file, start + size))
        for start in range(0, size_of_file, size)
    )
    return [chunk for part in parts for chunk in read_ndjson(part, EventFilter())]


def one(folder: Path, line: str) -> Chunk:
    (folder / "a").write_text(line)
    (chunk,) = chunks(folder / "a")
    return chunk


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            f'{{"name":"x",{TIME},"package":"p","data":{{"a":1,"b":null,"c":1.5,"d":true,"e":"",'
            '"f":{"value":0,"text":"OK"},"g":{"value":"0x2","text":"USER"},"h":[1],"i":{}},'
            '"actions":{"client_app_name":"task"}}',
            ExtendedEvent(
                "x",
                AT,
                {
                    "a": 1,
                    "b": None,
                    "c": 1.5,
                    "d": True,
                    "e": "",
                    "f": Mapped(0, "OK"),
                    "g": Mapped(2, "USER"),
                    "h": None,
                    "i": None,
                },
                {"client_app_name": "task"},
                "p",
            ),
        ),
        (f'{{"name":"x",{TIME},"data":{{}}}}', ExtendedEvent("x", AT, {}, {})),
        (f'{{"name":"x",{TIME},"data":{{}},"actions":[1]}}', ExtendedEvent("x", AT, {}, {})),
        (
            f'{{"Event Name":"x",{TIME},"Client App Name":"task","CPU":7,"h":[1]}}',
            ExtendedEvent("x", AT, {"cpu_time": 7}, {"client_app_name": "task"}),
        ),
        (
            '{"event_data":"<event name=\\"x\\" package=\\"p\\" '
            'timestamp=\\"2026-11-20T02:30:01Z\\"/>"}',
            ExtendedEvent("x", AT, {}, {}, "p"),
        ),
    ],
)
def test_an_object_is_an_event(tmp_path: Path, line: str, expected: ExtendedEvent) -> None:
    assert one(tmp_path, line) == Chunk([expected], 1)


@for_each(
    "line, reason",
    [
        ("{", "the line is not valid JSON"),
        ('{"a":1}{"b":2}', "the line is not valid JSON"),
        ('{"a":"\\ud800"}', "the line is not valid JSON"),
        ('{"a":' * 100_000, "the line is not valid JSON"),
        ("7", "the line is not a JSON object"),
        ("[]", "the line is not a JSON object"),
        ("{}", "the event has no name"),
        (f'{{{TIME},"data":{{}}}}', "the event has no name"),
        (f'{{"name":7,{TIME},"data":{{}}}}', "the event has no name"),
        ('{"name":"x","data":{}}', "the event has no time that can be read"),
        ('{"name":"x","timestamp":7,"data":{}}', "the event has no time that can be read"),
        ('{"name":"x","timestamp":"noon"}', "the event has no time that can be read"),
        ('{"event_data":"<event>"}', "the event is not well-formed XML"),
    ],
)
def test_a_bad_line_costs_itself(tmp_path: Path, line: str, reason: str) -> None:
    good = f'{{"name":"x",{TIME}}}\n'
    (tmp_path / "a").write_text(f"{good}{line}\n{good}")
    (chunk,) = chunks(tmp_path / "a")
    assert len(chunk.events) == 2
    ((damage),) = chunk.damages
    assert damage.position == f"line at byte {len(good)}"
    assert damage.reason.startswith(reason)


def test_depth_costs_no_recursion(tmp_path: Path) -> None:
    deep = '{"value":' * 900 + "1" + "}" * 900
    chunk = one(tmp_path, f'{{"name":"x",{TIME},"data":{{"a":{deep}}}}}')
    assert [event.data for event in chunk.events] == [{"a": None}]


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(0, 60), max_size=12),
    size=st.integers(1, 200),
    piece=st.integers(1, 100),
    ended=st.booleans(),
)
def test_parts_of_any_size_give_each_line_once(
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[int],
    size: int,
    piece: int,
    ended: bool,
) -> None:
    file = tmp_path_factory.mktemp("logs") / "a"
    names = [f"{number}é" + "x" * length for number, length in enumerate(lengths)]
    file.write_text("\n\n".join(f'{{"name":"{name}",{TIME}}}' for name in names) + "\n" * ended)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "PIECE", piece)
        found = chunks(file, size)
    assert [event.name for chunk in found for event in chunk.events] == names
    assert sum(chunk.seen for chunk in found) == len(names)


def test_a_line_without_end_takes_bounded_memory_and_costs_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ndjson_events, "LONGEST", 1000)
    splitter = LineSplitter()
    lines = list(splitter.feed(b"a\n"))
    for _ in range(100):
        lines += splitter.feed(b"x" * 300)
    lines += splitter.feed(b"\nb", last=True)
    assert lines == [(0, b"a"), (2, b""), (2 + 30_001, b"b")]
