"""Results of checks: the facet `dataQualityAssertions` of datasets, and `test` of a run.

What was compared (`content`, `params`, `expected`) may hold data and is not read; of `actual` only
the number of rows that a check found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from dbt_graft.collectors.openlineage.datasets import named_dataset
from dbt_graft.collectors.openlineage.event import Event
from dbt_graft.collectors.openlineage.facets import objects, text
from dbt_graft.lineage.building.checks import Check
from dbt_graft.lineage.records import NodeResult, Run, Status

_FACET = "dataQualityAssertions"
_MOST, _LONGEST, _DIGITS = 5_000, 300, 18
_STATUS = {"pass": Status.OK, "warn": Status.OK, "fail": Status.FAILED, "skipped": Status.UNKNOWN}
_WORDS = {"pass": "pass", "fail": "fail", "skip": "skipped"}


class _Outcome(NamedTuple):
    word: str
    failures: int | None


def check_results(run: Run, invocation: str, events: Iterable[Event]) -> Iterator[NodeResult]:
    """The results of the checks in the events of one run, each check once."""
    outcomes: dict[Check, tuple[_Outcome, Event]] = {}
    for event in events:
        for check, outcome in islice(_checks(event), _MOST):
            outcomes[check] = outcome, event
    for check, (outcome, event) in outcomes.items():
        yield NodeResult(
            node_id=check.id,
            invocation_id=invocation,
            word=outcome.word,
            status=_STATUS[outcome.word],
            started_at=event.at,
            ended_at=event.at,
            failures=outcome.failures,
            origin=f"dbt:{run.origin}#{invocation}",
        )


def _checks(event: Event) -> Iterator[tuple[Check, _Outcome]]:
    for tested in objects(event.run_facets, "test", "tests"):
        word, name = _WORDS.get(text(tested, "status").lower()), _short_text(tested, "name")
        if word and name:
            yield Check(None, _short_text(tested, "type"), name=name), _outcome(word, tested)
    for event_dataset in (*event.inputs, *event.outputs):
        for facets in (event_dataset.facets, event_dataset.counts):
            if _FACET not in facets:
                continue
            dataset = named_dataset(event_dataset.namespace, event_dataset.name)
            for assertion in objects(facets, _FACET, "assertions") if dataset else ():
                kind, success = _short_text(assertion, "assertion"), assertion.get("success")
                if kind and isinstance(success, bool):
                    check = Check(
                        dataset,
                        kind,
                        _short_text(assertion, "column"),
                        _short_text(assertion, "name"),
                    )
                    yield check, _outcome("pass" if success else "fail", assertion)


def _outcome(word: str, assertion: Mapping[str, Any]) -> _Outcome:
    if word == "fail" and text(assertion, "severity").lower() == "warn":
        word = "warn"
    actual = text(assertion, "actual")
    is_count = actual.isascii() and actual.isdigit() and len(actual) <= _DIGITS
    return _Outcome(word, int(actual) if is_count and word in ("fail", "warn") else None)


def _short_text(assertion: Mapping[str, Any], key: str) -> str:
    value = text(assertion, key)
    return value if value.isprintable() and len(value) <= _LONGEST else ""
