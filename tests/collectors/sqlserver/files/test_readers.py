"""Every form of export, however encoded and packed, gives the same events."""

import csv
import gzip
import io
import tracemalloc
from collections.abc import Callable
from itertools import product
from pathlib import Path
from xml.sax.saxutils import escape

import orjson
import pytest
import zstandard

from dbt_graft.collectors.files import log_files
from dbt_graft.collectors.sqlserver.event import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    FileSplit,
    LogDamage,
)
from dbt_graft.collectors.sqlserver.files import streams
from dbt_graft.collectors.sqlserver.files.formats import file_splits
from dbt_graft.collectors.sqlserver.files.readers import read_split
from tests.cases import for_each

TIME = "2026-11-20T02:30:01.244Z"
AT = 1_795_141_801 * 10_000_000 + 2_440_000
TEXTS = [
    "SELECT 1",
    "INSERT INTO t VALUES (N'ä, \"漢\"; 😀\r\n\t')",
    "SELECT '</event>' WHERE a < 5 && b > '&amp;'",
    "x" * 200_000,
]
EVENTS = [
    ExtendedEvent("sql_batch_completed", AT, {"batch_text": text}, {"client_app_name": "task"})
    for text in TEXTS
]


def xml(event: ExtendedEvent) -> str:
    return (
        f'<event name="{event.name}" package="sqlserver" timestamp="{TIME}">'
        + "".join(
            f'<data name="{name}"><value>{escape(str(value), {chr(13): "&#13;"})}</value></data>'
            for name, value in event.data.items()
        )
        + "".join(
            f'<action name="{name}" package="sqlserver"><value>{value}</value></action>'
            for name, value in event.actions.items()
        )
        + "</event>"
    )


def rows(rows: list[list[str]], delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]
    writer.writerows(rows)
    return out.getvalue()


def grid(events: list[ExtendedEvent], delimiter: str = ",") -> str:
    header = ["name", "timestamp", "batch_text", "client_app_name"]
    return rows(
        [
            header,
            *(
                [event.name, TIME, *map(str, (*event.data.values(), *event.actions.values()))]
                for event in events
            ),
        ],
        delimiter,
    )


def printed(event: ExtendedEvent) -> str:
    document = {
        "name": event.name,
        "timestamp": TIME,
        "package": event.package,
        "data": event.data,
        "actions": event.actions,
    }
    return orjson.dumps(document).decode() + "\n"


def flat(event: ExtendedEvent) -> str:
    document = {"EventName": event.name, "timestamp (UTC)": TIME, **event.data, **event.actions}
    return orjson.dumps(document).decode() + "\n"


FORMS: dict[str, Callable[[list[ExtendedEvent]], str]] = {
    "fragments.xml": lambda events: "".join(map(xml, events)),
    "lines.txt": lambda events: "\r\n".join(map(xml, events)),
    "document.xml": lambda events: f"<?xml version='1.0'?>\n<e>{''.join(map(xml, events))}</e>",
    "declared.xml": lambda events: (
        "<?xml version='1.0' encoding='utf-16'?>" + "".join(map(xml, events))
    ),
    "rows.xml": lambda events: "".join(f"<row>{escape(xml(event))}</row>" for event in events),
    "grid.csv": grid,
    "semicolons.csv": lambda events: grid(events, ";"),
    "tabs.txt": lambda events: grid(events, "\t"),
    "xml.csv": lambda events: rows(
        [["object_name", "event_data"], *([event.name, xml(event)] for event in events)]
    ),
    "no header.csv": lambda events: rows([["a", xml(event)] for event in events]),
    "quoted.csv": lambda events: rows([[xml(event)] for event in events], quoting=csv.QUOTE_ALL),
    "printed.ndjson": lambda events: "".join(map(printed, events)),
    "flat.jsonl": lambda events: "".join(map(flat, events)),
    "xml.json": lambda events: "".join(
        orjson.dumps({"event_data": xml(event)}).decode() + "\n" for event in events
    ),
}
ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "utf-8": lambda text: text.encode(),
    "utf-8 with mark": lambda text: text.encode("utf-8-sig"),
    "utf-16-le": lambda text: text.encode("utf-16-le"),
    "utf-16-be": lambda text: text.encode("utf-16-be"),
    "utf-16-le with mark": lambda text: ("\ufeff" + text).encode("utf-16-le"),
    "utf-16-be with mark": lambda text: ("\ufeff" + text).encode("utf-16-be"),
}


def members(data: bytes, pack: Callable[[bytes], bytes]) -> bytes:
    half = len(data) // 2
    return pack(data[:half]) + pack(data[half:])


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": zstandard.compress,
    "members.gz": lambda data: members(data, gzip.compress) + bytes(100_000),
    "frames.zst": lambda data: members(data, zstandard.compress),
}


def found(folder: Path, wanted: EventFilter | None = None, size: int = 32 << 20) -> list[Chunk]:
    (log,) = log_files(str(folder), "logs")
    cut = file_splits(log, size)
    assert not isinstance(cut, LogDamage), cut
    return [chunk for part in cut for chunk in read_split(part, wanted or EventFilter())]


def events(chunks: list[Chunk]) -> list[ExtendedEvent]:
    return [event for chunk in chunks for event in chunk.events]


def damages(chunks: list[Chunk]) -> list[tuple[str, str]]:
    return [(damage.position, damage.reason) for chunk in chunks for damage in chunk.damages]


@pytest.mark.parametrize("form", FORMS)
@for_each("encoding, compression", product(ENCODINGS, COMPRESSIONS))
def test_every_form_gives_the_same_events(
    tmp_path: Path, form: str, encoding: str, compression: str
) -> None:
    data = COMPRESSIONS[compression](ENCODINGS[encoding](FORMS[form](EVENTS)))
    (tmp_path / f"{form}{compression}").write_bytes(data)
    chunks = found(tmp_path, size=50_000)
    assert damages(chunks) == []
    assert events(chunks) == EVENTS
    assert sum(chunk.seen for chunk in chunks) == len(EVENTS)


@for_each("form", FORMS)
def test_only_wanted_events_are_read_and_all_are_counted(tmp_path: Path, form: str) -> None:
    others = [
        EVENTS[0]._replace(name="rpc_completed"),
        EVENTS[0]._replace(actions={"client_app_name": "other"}),
    ]
    (tmp_path / form).write_text(FORMS[form]([*others, *EVENTS]), newline="")
    wanted = EventFilter(frozenset({"sql_batch_completed"}), lambda name: name == "task")
    chunks = found(tmp_path, wanted)
    assert events(chunks) == EVENTS
    assert sum(chunk.seen for chunk in chunks) == len(EVENTS) + 2


@for_each("form, piece", product(FORMS, [100, 4096, 1 << 20]))
def test_pieces_of_any_size_give_the_same_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, piece: int
) -> None:
    short = EVENTS[:3]
    (tmp_path / form).write_text(FORMS[form](short), newline="")
    monkeypatch.setattr(streams, "PIECE", piece)
    assert events(found(tmp_path)) == short


BREAKS = [
    (".gz", "the file ends within its gzip data: the rest is lost"),
    (".zst", "the file ends within its zstd data: the rest is lost"),
]


@pytest.mark.parametrize("form", ["fragments.xml", "grid.csv", "printed.ndjson"])
@for_each("compression, reason", BREAKS)
def test_events_before_a_break_in_packed_data_are_read(
    tmp_path: Path, form: str, compression: str, reason: str
) -> None:
    many = [EVENTS[0]._replace(data={"batch_text": f"SELECT {i * i}"}) for i in range(5000)]
    packed = COMPRESSIONS[compression](FORMS[form](many).encode())
    (tmp_path / f"a{compression}").write_bytes(packed[: len(packed) * 2 // 3])
    (log,) = log_files(str(tmp_path / f"a{compression}"), "a")
    cut = file_splits(log)
    assert not isinstance(cut, LogDamage)
    chunks = [chunk for part in cut for chunk in read_split(part, EventFilter())]
    before = events(chunks)
    assert before == many[: len(before)]
    assert len(before) > 1000
    assert damages(chunks)[-1] == ("from byte 0 on", reason)


@pytest.mark.parametrize("compression", [".gz", ".zst"])
def test_damage_in_packed_data_is_reported(tmp_path: Path, compression: str) -> None:
    packed = COMPRESSIONS[compression](FORMS["fragments.xml"](EVENTS).encode())
    (tmp_path / f"a.xml{compression}").write_bytes(packed + b"junk that is nothing packed")
    chunks = found(tmp_path)
    assert events(chunks) == EVENTS
    ((_, reason),) = damages(chunks)
    assert reason.endswith("data: the rest is lost")


@pytest.mark.parametrize("compression", [".gz", ".zst"])
def test_a_bomb_unpacks_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compression: str
) -> None:
    monkeypatch.setattr(streams, "PIECE", 1 << 20)
    bomb = COMPRESSIONS[compression](b"<events>" + b" " * (200 << 20))
    (tmp_path / f"a.xml{compression}").write_bytes(bomb)
    tracemalloc.start()
    assert not events(found(tmp_path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 << 20


@pytest.mark.parametrize("form", ["xml", "csv", "ndjson"])
def test_a_file_that_is_gone_by_now_is_a_damage(tmp_path: Path, form: str) -> None:
    part = FileSplit(str(tmp_path / "gone"), "logs/gone", form, 10, 20)
    (chunk,) = read_split(part, EventFilter())
    [damage] = chunk.damages
    assert damage.position == "from byte 10 on"
    reason = "the file cannot be read: FileNotFoundError at dbt_graft.collectors.sqlserver.files."
    assert damage.reason.startswith(reason)
    assert damage.unread


def test_a_single_byte_encoding_that_xml_declares_is_obeyed(tmp_path: Path) -> None:
    event = EVENTS[0]._replace(data={"batch_text": "SELECT ä FROM Zürich"})
    text = f'<?xml version="1.0" encoding="Windows-1252"?>{xml(event)}'
    (tmp_path / "a.xml").write_bytes(text.encode("cp1252"))
    assert events(found(tmp_path)) == [event]
