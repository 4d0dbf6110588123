"""Files with events: one a line, one a file, arrays, compressed, growing, damaged."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import zstandard

from tests.cases import for_each
from tests.collectors.openlineage.events import event, records, results_of, run_id, written

EVENTS = [event("COMPLETE", run=n, outputs=["file /out"]) for n in range(5)]
LINES = "".join(f"{json.dumps(one)}\n" for one in EVENTS).encode()

FORMS = {
    "one a line": LINES,
    "without the last line's end": LINES.rstrip(),
    "with empty lines": LINES.replace(b"\n", b"\n\n \n"),
    "with Windows' line ends": LINES.replace(b"\n", b"\r\n"),
    "with a byte order mark": b"\xef\xbb\xbf" + LINES,
    "an array": json.dumps(EVENTS).encode(),
    "an array in several lines": json.dumps(EVENTS, indent=2).encode(),
    "gzip": gzip.compress(LINES),
    "gzip of several members": gzip.compress(LINES[:1000]) + gzip.compress(LINES[1000:]),
    "zstd": zstandard.compress(LINES),
    "JSONs in several lines": "".join(
        json.dumps(event, indent=2) + "\n" for event in EVENTS
    ).encode(),
    "an array a line": "".join(json.dumps([event]) + "\n" for event in EVENTS).encode(),
    "an array in gzip": gzip.compress(json.dumps(EVENTS, indent=2).encode()),
    "a dump of Kafka": "".join(
        f"{json.dumps({'key': 'k', 'partition': 1, 'value': one})}\n" for one in EVENTS
    ).encode(),
    "a dump of Kafka with texts": "".join(
        f"{json.dumps({'topic': 't', 'payload': json.dumps(one)})}\n" for one in EVENTS
    ).encode(),
}


@for_each("form", FORMS)
def test_every_form_has_the_same_events(form: str, tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.write_bytes(FORMS[form])
    results = results_of(path)
    assert [run.run_id for run in records(results).runs] == [run_id(n) for n in range(5)]
    assert records(results).rejects == ()
    assert results[-1].events == 5


def test_one_event_in_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(EVENTS[0], indent=2))
    assert [run.run_id for run in records(results_of(path)).runs] == [run_id(0)]


@pytest.mark.parametrize("size", [1, 7, 100, 500, 10_000])
def test_pieces_of_a_file_have_each_line_once(size: int, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(LINES)
    results = [
        result
        for start in range(0, len(LINES), size)
        for result in results_of(path, start=start, end=min(start + size, len(LINES)))
    ]
    assert sorted(run.run_id for run in records(results).runs) == [run_id(n) for n in range(5)]
    assert records(results).rejects == ()
    assert max(result.reached for result in results) == len(LINES)


def test_a_file_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(LINES)
    start = LINES.find(b"\n") + 1
    results = results_of(path, start=start, first=start)
    assert [run.run_id for run in records(results).runs] == [run_id(n) for n in range(1, 5)]


def test_a_damaged_line_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    first, *rest = LINES.splitlines(keepends=True)
    path.write_bytes(b"".join([first, b'{"eventTime": nope}\n', *rest]))
    found = records(results_of(path))
    assert len(found.runs) == 5
    [reject] = found.rejects
    assert (reject.origin, reject.position) == ("events.jsonl", f"byte {len(first)}")
    assert reject.reason == "this is not JSON, or is cut short"


def test_the_last_line_may_still_be_written(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(LINES[:-50])
    [result] = results_of(path)
    whole = LINES[: LINES.rstrip().rfind(b"\n") + 1]
    assert (result.reached, result.waits, result.events) == (len(whole), True, 4)
    [reject] = result.records.rejects
    # When the rest is there, what is found from there on replaces the reject.
    assert reject.origin == f"events.jsonl@{len(whole)}"


@pytest.mark.parametrize("cut", [20, 200])
def test_a_compressed_file_that_is_cut_off_gives_what_is_there(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "events.gz"
    path.write_bytes(gzip.compress(LINES, compresslevel=0)[:-cut])
    found = records(results_of(path))
    assert len(found.runs) in (4, 5)
    assert any("truncated" in reject.reason for reject in found.rejects)


@for_each(
    "rest, reasons",
    [
        ("{", ["behind event 1: this is not JSON, or is cut short; it is read again"]),
        ('{"a": NaN}', ["event 2: this is not JSON, or is cut short"]),
        ('[{}, {"a": "\\ud800"}]', ["event 2: this is not JSON, or is cut short"]),
        ("[{}, 1]", ["event 2: has neither", "event 3: the event is not of type 'object'"]),
    ],
)
def test_of_several_jsons_each_wrong_one_is_a_reject(
    rest: str, reasons: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "events.json"
    path.write_text(f"{json.dumps(EVENTS[0], indent=2)}\n{rest}", "utf-8")
    found = records(results_of(path))
    assert len(found.runs) == 1
    said = [f"{reject.position}: {reject.reason}" for reject in found.rejects]
    assert [text[: len(start)] for text, start in zip(said, reasons, strict=True)] == reasons


def test_what_is_no_text_is_a_reject(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes("\ufeffa".encode("utf-16-le"))
    assert [reject.reason for reject in records(results_of(path)).rejects] == [
        "the file is not UTF-8"
    ]
    path.write_bytes(bytes(range(256)) * 10)
    assert {reject.reason.partition(";")[0] for reject in records(results_of(path)).rejects} == {
        "this is not JSON, or is cut short"
    }


def test_a_file_that_is_gone_is_read_next_time(tmp_path: Path) -> None:
    path = written(tmp_path / "events.jsonl", EVENTS[0])
    [result] = results_of(path, url=str(tmp_path / "gone"))
    assert result.unread == "the file cannot be read (No such file or directory)"


def test_an_empty_file_has_nothing(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"")
    [result] = results_of(path)
    assert (result.events, result.records.rejects, result.reached) == (0, (), 0)


def test_of_many_wrong_events_the_first_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"a": 1}\n' * 1_200)
    rejects = records(results_of(path)).rejects
    assert (len(rejects), rejects[-1].reason) == (1_001, "200 more events like these")
