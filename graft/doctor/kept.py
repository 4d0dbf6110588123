"""What the lineage store holds, and what of the logs could not be used."""

from __future__ import annotations

import logging
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dbt_graft.collectors import store
from dbt_graft.graft.doctor.cut import is_cut
from dbt_graft.graft.doctor.words import ago, at_most, count, named
from dbt_graft.lineage.errors import exception_summary
from dbt_graft.lineage.findings import Finding, Severity
from dbt_graft.lineage.gaps import Gap, gaps
from dbt_graft.lineage.records import Outcome, Records

_SHOWN_OF_EXAMPLE = 70
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kept:
    """A lineage store; empty where there is none, or none that can be read.

    Attributes:
        batches: The rows of `batches`, later ones behind.
        positions: As `collectors.store.positions` gives them.
        fault: What is wrong with it.
    """

    place: str
    records: Records = field(default_factory=Records)
    batches: Sequence[Mapping[str, Any]] = ()
    positions: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    fault: Finding | None = None


def read(place: str) -> Kept:
    """Read a store, whatever its state."""
    try:
        return Kept(place, store.read(place), store.batches(place), store.positions(place))
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        _log.debug("the store cannot be read", exc_info=True)
        fault = Finding(
            Severity.ERROR,
            place,
            f"the store cannot be read: {exception_summary(error)}",
            "bring back a copy of it, or remove it and run `graft collect`",
        )
        return Kept(place, fault=fault)


def contents(held: Kept) -> Iterator[Finding]:
    """How much there is, and since when nothing came to it."""
    if held.fault:
        yield held.fault
        return
    if not held.batches:
        yield Finding(
            Severity.WARNING, held.place, "nothing was collected yet", "run `graft collect`"
        )
        return
    records = held.records
    yield Finding(
        Severity.NOTE,
        held.place,
        f"{count(len({row['batch_id'] for row in held.batches}), 'batch', 'es')}, the last "
        f"{ago(held.batches[-1]['committed_at'])}; {count(len(records.runs), 'run')} of "
        f"{count(len({run.task for run in records.runs}), 'task')}, "
        f"{count(len(records.datasets), 'dataset')}",
    )


def rejects(held: Kept) -> Iterator[Finding]:
    """Pieces of logs that could not be used, by reason, the most frequent first."""
    origins: dict[str, list[str]] = defaultdict(list)
    for reject in held.records.rejects:
        origins[reject.reason].append(reject.origin)
    found = [
        Finding(
            Severity.WARNING,
            named(list(dict.fromkeys(logs))),
            f"{len(logs):,} × {reason}",
            "the rest was read; the site's page of what could not be read lists each piece",
        )
        for reason, logs in sorted(origins.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    yield from at_most(found, held.place, "reasons of rejects")


def statements(held: Kept) -> Iterator[Finding]:
    """Statements that were not understood, or only in part, for reasons of our own."""
    found = gaps(shape for shape in held.records.shapes.values() if not is_cut(shape))
    yield from at_most([_gap(gap) for gap in found], held.place, "such reasons")


def _gap(gap: Gap) -> Finding:
    failed = gap.outcome is Outcome.FAILED
    example = textwrap.shorten(gap.example, _SHOWN_OF_EXAMPLE, placeholder=" …")
    return Finding(
        Severity.WARNING if failed else Severity.NOTE,
        f"statements in {gap.dialect}",
        f"{gap.shapes:,} {'not understood' if failed else 'read in part'}: {gap.reason}; "
        f"one of them: {example}",
        "declare what it moves (docs/declared-lineage.md), and report it" if failed else "",
    )
