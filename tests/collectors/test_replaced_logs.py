"""Logs that change while they are read: no crash, and the next collect reads them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from dbt_graft.collectors.files import LogFile, changed_logs, filesystem, log_files
from dbt_graft.collectors.spark.log.decode import BadEvent, SparkEvent, decode
from dbt_graft.collectors.sqlserver.event import EventFilter, ExtendedEvent
from dbt_graft.collectors.sqlserver.files import streams
from dbt_graft.collectors.sqlserver.files.event_text import to_json, to_xml
from dbt_graft.collectors.sqlserver.files.formats import file_splits
from dbt_graft.collectors.sqlserver.files.readers import read_split
from tests.collectors.sqlserver.xel_session import BASE
from tests.collectors.sqlserver.xel_writer import UNIX_EPOCH, write_events

_COUNT = 6_000
_EVENTS = [
    ExtendedEvent("sql_batch_starting", BASE - UNIX_EPOCH + n, {"batch_text": "SELECT 1"}, {})
    for n in range(_COUNT)
]
_START = b'{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"x","Timestamp":1}\n'


@dataclass(frozen=True)
class Step:
    """A piece of a log that was read: how many events, and how many damages, it has."""

    events: int
    damages: int


def _captured(log: LogFile) -> Iterator[Step]:
    splits = file_splits(log)
    assert isinstance(splits, list)
    for split in splits:
        for chunk in read_split(split, EventFilter()):
            yield Step(len(chunk.events), len(chunk.damages))


def _spark(log: LogFile) -> Iterator[Step]:
    files, path = filesystem(log.url)
    with ExitStack() as stack:
        stream = stack.enter_context(files.open_input_stream(path, compression=None))
        for read in decode(stream):
            yield Step(isinstance(read, SparkEvent), isinstance(read, BadEvent))


def _write_xel(path: Path) -> None:
    write_events(path, _EVENTS)


def _write_xml(path: Path) -> None:
    path.write_text("\n".join(map(to_xml, _EVENTS)))


def _write_ndjson(path: Path) -> None:
    path.write_bytes(b"\n".join(orjson.dumps(to_json(event)) for event in _EVENTS) + b"\n")


def _write_spark(path: Path) -> None:
    path.write_bytes(_START * _COUNT)


FORMS: dict[str, tuple[Callable[[Path], None], Callable[[LogFile], Iterator[Step]]]] = {
    "a.xel": (_write_xel, _captured),
    "a.xml": (_write_xml, _captured),
    "a.ndjson": (_write_ndjson, _captured),
    "app-1": (_write_spark, _spark),
}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PIECE", 1 << 16)


def _read_while(path: Path, change: Callable[[], object]) -> tuple[LogFile, int, int]:
    """Read a log, and change it when its first piece was read; its events and damages."""
    (log,) = log_files(str(path.parent), "logs")
    steps = FORMS[path.name][1](log)
    first = next(step for step in steps if step.events)
    change()
    rest = [first, *steps]
    return log, sum(step.events for step in rest), sum(step.damages for step in rest)


@pytest.mark.parametrize("name", FORMS)
def test_a_log_that_another_replaces_while_it_is_read_is_read_to_its_end_and_again(
    name: str, tmp_path: Path
) -> None:
    path, other = tmp_path / name, tmp_path.parent / f"other-{name}"
    FORMS[name][0](path)
    other.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    log, events, damages = _read_while(path, lambda: other.replace(path))
    assert (events, damages) == (_COUNT, 0)
    assert changed_logs(log_files(str(tmp_path), "logs"), {log.origin: (log.position, events)})


@pytest.mark.parametrize("name", FORMS)
def test_a_log_that_is_emptied_while_it_is_read_keeps_its_first_events_and_is_read_again(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    FORMS[name][0](path)
    log, events, damages = _read_while(path, lambda: path.write_bytes(b""))
    assert 0 < events < _COUNT
    # Nothing tells how long a text was; a .xel file names the length of its blocks.
    assert damages > 0 or name != "a.xel"
    assert changed_logs(log_files(str(tmp_path), "logs"), {log.origin: (log.position, events)})


@pytest.mark.parametrize("name", FORMS)
def test_a_log_that_is_removed_while_it_is_read_is_read_to_its_end(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    FORMS[name][0](path)
    _, events, damages = _read_while(path, path.unlink)
    assert (events, damages) == (_COUNT, 0)
