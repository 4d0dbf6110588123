"""Emitted OpenLineage events against expected ones: read from files, compared, and shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.exporters.openlineage.expectations import (
    ExpectedEvents,
    KeyResult,
    compare,
    event_name,
    expected_events,
)
from dbt_graft.exporters.openlineage.files import (
    document_files,
    read_document,
    read_events,
    read_stream,
)
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

_STANDARD_INPUT = Path("-")
_OTHERS = 5


@frozen
class ComparedEvents:
    """The result for each key that is expected, and what else was emitted.

    Attributes:
        emitted: The number of events.
        others: Keys of events that nothing expects.
    """

    results: tuple[KeyResult, ...]
    emitted: int
    others: Sequence[str]

    @property
    def is_met(self) -> bool:
        """Whether all events are as expected."""
        return all(result.is_met for result in self.results)

    def lines(self) -> Iterator[str]:
        """The differences, key by key, as text."""
        for result in self.results:
            if result.is_met:
                continue
            yield result.key
            if result.expected != result.found:
                wanted = count(result.expected, "event") if result.expected else "no event"
                yield f"  expected {wanted}, found {result.found or 'none'}"
            for difference in result.differences:
                yield f"  {difference.path or 'event'}: {difference.problem}"
        if any(result.found < result.expected for result in self.results) and self.others:
            yield f"other events: {join_names(self.others, _OTHERS)}"
        met = sum(result.is_met for result in self.results)
        yield f"{met} of {count(len(self.results), 'key')} as expected"

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        return {
            "events": self.emitted,
            "expected": sum(result.expected for result in self.results),
            "as_expected": self.is_met,
            "missing": [
                result.key for result in self.results if result.expected and not result.found
            ],
            "keys": [
                {
                    "key": result.key,
                    "as_expected": result.is_met,
                    "expected": result.expected,
                    "found": result.found,
                    "differences": list(map(asdict, result.differences)),
                }
                for result in self.results
            ],
        }


def compare_events(emitted: Path, templates: Sequence[Path]) -> ComparedEvents:
    """Compare the events of a file, a folder or `-` with expected ones.

    Raises:
        GraftError: A file cannot be read, or holds no events.
    """
    expected = _read_expected(templates)
    events = _read_emitted(emitted)
    try:
        results = compare(expected, events)
    except RecursionError as error:
        raise GraftError("an event is nested too deeply", place=str(emitted)) from error
    others = sorted({event_name(event) for event in events} - {group.key for group in expected})
    return ComparedEvents(results, len(events), others)


def _read_expected(paths: Sequence[Path]) -> list[ExpectedEvents]:
    groups: dict[str, ExpectedEvents] = {}
    for path in paths:
        for file in document_files(path):
            try:
                expected = expected_events(read_document(file))
            except ValueError as error:
                raise GraftError(str(error), place=str(file)) from error
            for group in expected:
                if group.key in groups:
                    raise GraftError(
                        f"{group.key} is expected in another file too",
                        place=str(file),
                        remedy="write all events of a key as a list in one file",
                    )
                groups[group.key] = group
    if not groups:
        raise GraftError("no event is expected", place=", ".join(map(str, paths)))
    return list(groups.values())


def _read_emitted(path: Path) -> list[Any]:
    is_input = path == _STANDARD_INPUT
    events = read_stream(sys.stdin.buffer, "-") if is_input else read_events(path)
    for number, event in enumerate(events, 1):
        try:
            event_name(event)
        except ValueError as error:
            raise GraftError(f"event {number} {error}", place=str(path)) from error
    return events
