"""A file's form and splits follow from its name and beginning."""

import gzip
from pathlib import Path

from dbt_graft.collectors.files import LogFile, log_files
from dbt_graft.collectors.sqlserver.event import FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.formats import file_splits, may_hold_events
from tests.cases import for_each

EVENT = b'<event name="rpc_completed" package="sqlserver" timestamp="2026-11-20T02:30:01Z"></event>'


def log(folder: Path, content: bytes, name: str = "a.log") -> LogFile:
    (folder / name).write_bytes(content)
    (file,) = log_files(str(folder), "logs")
    return file


def utf16(text: str) -> bytes:
    return text.encode("utf-16")


@for_each(
    "content, expected",
    [
        (EVENT, ("xml", "utf-8", False)),
        (b"\xef\xbb\xbf" + EVENT, ("xml", "utf-8", False)),
        (b'<?xml version="1.0"?>\n<events>\n' + EVENT, ("xml", "utf-8", False)),
        (b"<events/>", ("xml", "utf-8", False)),
        (b" \r\n", ("xml", "utf-8", False)),
        (b"<x>\0</x>", ("xml", "utf-8", False)),
        (b"<row><event_data>&lt;event name=&quot;x&quot;&gt;", ("xml", "utf-8", True)),
        (b"<row><x>&lt;events&gt;</x>" + EVENT, ("xml", "utf-8", False)),
        (b"<row><object_name>x</object_name><event_data>" + EVENT, ("xml", "utf-8", False)),
        (b"event_data\r\n-----\r\n" + EVENT, ("xml", "utf-8", False)),
        (b"object_name,event_data\nx," + EVENT, ("xml", "utf-8", False)),
        (EVENT.decode().encode("utf-16"), ("xml", "utf-16-le", False)),
        (EVENT.decode().encode("utf-16-be"), ("xml", "utf-16-be", False)),
        (b"<?xml version='1.0' encoding='ISO-8859-15'?><e/>", ("xml", "iso-8859-15", False)),
        (b"<?xml version='1.0' encoding='idna'?><e/>", ("xml", "utf-8", False)),
        (b"name,timestamp\n", ("csv", "utf-8", False)),
        (b"name\ttimestamp\tbatch_text\n" + EVENT, ("csv", "utf-8", False)),
        (b'event_data\n"<event name=""x"">', ("csv", "utf-8", False)),
        (b'a,"<event name=""x"" package=""', ("csv", "utf-8", False)),
        (b'{"name":"x"}\n{"name"', ("ndjson", "utf-8", False)),
        (b'{"name":"x"}', ("ndjson", "utf-8", False)),
        (utf16('{"name":"x"}\n'), ("ndjson", "utf-16-le", False)),
    ],
)
def test_a_files_form_follows_from_its_beginning(
    tmp_path: Path, content: bytes, expected: tuple[str, str, bool]
) -> None:
    splits = file_splits(log(tmp_path, content))
    assert not isinstance(splits, LogDamage)
    (part,) = splits
    assert (part.form, part.encoding, part.escaped) == expected
    assert (part.origin, part.start, part.end) == ("logs/a.log", 0, len(content))


@for_each(
    "content, name, reason",
    [
        (b"no xml at all", "a.xml", "the file is not XML, NDJSON or CSV with names of"),
        (b"a;b;c\n1;2;3", "a.csv", "the file is not XML, NDJSON or CSV with names of"),
        (b"\x01\x00\x02\x03", "a.txt", "the file is binary: export the events as XML"),
        (b"\x01\x00\x02\x03", "a.xel", "the file is not a .xel file of SQL Server 2012 or later"),
        (
            gzip.compress(b"\x5a\x37\xab\xef", mtime=0),
            "a.xel.gz",
            "the file is a compressed .xel file",
        ),
        (b"PK\x03\x04", "a.csv", "the file is a ZIP archive or an Excel file: unpack it"),
        (b"\xd0\xcf\x11\xe0", "a.csv", "the file is an old Excel file: save it as CSV"),
        (b'[{"name": "x"}]', "a.json", "the file is a JSON array: write one object a line"),
        (b'{\n"name": "x"}', "a.json", "the file is JSON over several lines: write one object"),
        (b"\xff\xfe\0\0<\0\0\0", "a.xml", "the file is UTF-32: save it as UTF-8"),
        (b"\x1f\x8b\x08", "a.gz", "the file ends within its gzip data"),
        (b"\x1f\x8bxxx", "a.gz", "the file holds damaged gzip data"),
    ],
)
def test_an_unreadable_format_is_reported_with_a_remedy(
    tmp_path: Path, content: bytes, name: str, reason: str
) -> None:
    splits = file_splits(log(tmp_path, content, name))
    assert isinstance(splits, LogDamage)
    assert splits.position == "the file"
    assert splits.reason.startswith(reason)


def test_an_empty_file_is_none(tmp_path: Path) -> None:
    assert file_splits(log(tmp_path, b"")) == []


def test_a_file_that_is_gone_is_a_damage(tmp_path: Path) -> None:
    gone = log(tmp_path, EVENT)
    (tmp_path / "a.log").unlink()
    damage = file_splits(gone)
    assert isinstance(damage, LogDamage)
    reason = "the file cannot be read: FileNotFoundError at dbt_graft.collectors.sqlserver.files."
    assert damage.reason.startswith(reason)
    assert damage.unread


@for_each(
    "content, count",
    [
        (EVENT * 10, 3),
        (b'{"name":"x"}\n' * 80, 3),
        (b"name,timestamp\n" * 60, 1),
        (gzip.compress(bytes(range(256)) * 2), 0),
        ((EVENT * 10).decode().encode("utf-16"), 1),
        (EVENT[:300] * 4, 1),
    ],
)
def test_plain_utf_8_is_cut_into_parts_by_bytes(tmp_path: Path, content: bytes, count: int) -> None:
    splits = file_splits(log(tmp_path, content), size=400)
    cut = [] if isinstance(splits, LogDamage) else splits
    assert len(cut) == count
    if cut:
        assert [part.start for part in cut] == [400 * number for number in range(count)]
        assert [part.end for part in cut[:-1]] == [part.start for part in cut[1:]]
        assert cut[-1].end == len(content)


def test_what_is_packed_is_one_part(tmp_path: Path) -> None:
    packed = gzip.compress(EVENT * 10, mtime=0)
    assert file_splits(log(tmp_path, packed), size=10) == [
        FileSplit(str(tmp_path / "a.log"), "logs/a.log", "xml", 0, len(packed), "gzip")
    ]


@for_each(
    "name, expected",
    [
        *((f"a{suffix}", True) for suffix in (".xel", ".XML", ".csv", ".txt", ".json", ".jsonl")),
        *((f"a{suffix}", True) for suffix in (".ndjson", ".xml.gz", ".CSV.zst", ".b.xel.gz")),
        *((name, False) for name in ("README.md", "dbt.log", "a.gz", "a.xem", "xml", "a.xml.bak")),
    ],
)
def test_a_file_is_looked_at_by_its_name(tmp_path: Path, name: str, expected: bool) -> None:
    file = log(tmp_path, b"", name)
    assert may_hold_events(file, str(tmp_path)) == expected
    assert may_hold_events(file, str(tmp_path / name))
