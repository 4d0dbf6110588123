"""The panel of a dataset's dates: its kind, what it needs, a calendar of states, its taints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.entity_states import EntityState, entity_states
from dbt_graft.analysis.dates.kind_of_dataset import dataset_kind
from dbt_graft.analysis.dates.recorded_states import DatasetTaint, TaintsNow
from dbt_graft.analysis.dates.write_gaps import WriteGaps, write_gaps
from dbt_graft.catalog.date_pictures import DRAWN, calendar_pictures, recent_dates
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import (
    NO_DATES,
    dates_between,
    hour_of,
    moment_of,
    unit_of,
    unit_start,
)
from dbt_graft.lineage.dates.dataset_kind import DatasetKind
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.dates.partition_mapping import MappingEvidence
from dbt_graft.lineage.dates.period import Grain

_MOST = 12  # ranges of dates in a line
_EVIDENCE = {
    MappingEvidence.DECLARED: "declared",
    MappingEvidence.RUNS: "as runs agree",
    MappingEvidence.COLUMN: "by the partition column",
    MappingEvidence.HINT: "a hint of few runs",
    MappingEvidence.NONE: "nothing maps them",
}


@dataclass(frozen=True, slots=True)
class DatesNeed:
    """The dates of an input that a date of the dataset needs.

    Attributes:
        dates: `same day`, `[-6, 0] by day`.
        evidence: In words, with the number of runs that agree.
    """

    task: str
    source: DatasetId
    dates: str
    evidence: str


@dataclass(frozen=True, slots=True)
class TaintNote:
    """A taint on record, in words.

    Attributes:
        dates: The dates that are still bad; empty where all were written again.
        begin: The bad write: dataset and dates.
        superseded: `5 Oct 2026 by run x of load` of each clean write.
    """

    dates: str
    dataset: DatasetId
    begin: str
    task: str
    run: str
    reason: str
    link: str
    superseded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatesPanel:
    """The panel.

    Attributes:
        is_dated: Else the dates are those of writes.
        pictures: Oldest first.
        states: State -> its dates in words, of the pictures.
        gaps: What was not written, or late, in sentences.
    """

    kind: DatasetKind | None
    grain: Grain
    is_dated: bool
    needs: tuple[DatesNeed, ...]
    pictures: tuple[Markup, ...]
    states: tuple[tuple[EntityState, str], ...]
    gaps: tuple[str, ...]
    taints: tuple[TaintNote, ...]


def dates_panel(
    history: AccessHistory, dataset: DatasetId, taints: TaintsNow, newest: datetime | None
) -> DatesPanel | None:
    """The panel of a dataset; None where no log tells its dates, and no taint is on record.

    Args:
        newest: The time of the newest access.
    """
    is_declared = dataset in history.lineage.history.declared_dates
    on_record = taints.by_dataset.get(dataset, ())
    if history.grain(dataset) is None and not is_declared and not on_record:
        return None
    states = entity_states(history, dataset, taints.dates(dataset))
    shown = recent_dates(states)
    words = states.dates_by_state(shown)
    order = (*reversed(DRAWN), EntityState.SUPERSEDED)
    return DatesPanel(
        dataset_kind(history, dataset),
        states.grain,
        states.is_dated,
        tuple(_needs(history, dataset)),
        tuple(calendar_pictures(states, shown)),
        tuple(
            (state, dates_text(words[state], states.grain, _MOST))
            for state in order
            if words[state]
        ),
        tuple(_gaps(write_gaps(states, newest))) if newest else (),
        tuple(
            _note(dataset_taint)
            for dataset_taint in on_record
            if dataset_taint.taint.cleared_at is None
        ),
    )


def _needs(history: AccessHistory, dataset: DatasetId) -> Sequence[DatesNeed]:
    needs = []
    for edge in history.upstream.get(dataset, ()):
        mapping = history.mapping(edge)
        agree = f", {mapping.agreeing:,} of {mapping.of:,} runs" if mapping.of else ""
        evidence = f"{_EVIDENCE[mapping.evidence]}{agree}"
        needs.append(DatesNeed(edge[0], edge[1], str(mapping), evidence))
    return needs


def _gaps(gaps: WriteGaps) -> Sequence[str]:
    lines = []
    if gaps.missing:
        text = _starts_text(gaps.missing, gaps.grain)
        lines.append(
            f"No write for {len(gaps.missing)} of the last {gaps.of} {gaps.grain}s: {text}"
        )
    if gaps.usual is not None and gaps.usual.total_seconds() > 0:
        hours = gaps.usual.total_seconds() / 3600
        late = tuple(start for start in gaps.late if start not in gaps.missing)
        text = f"; late: {_starts_text(late, gaps.grain)}" if late else ""
        lines.append(f"Usually written {hours:.1f} hours after the end of its {gaps.grain}{text}")
    return lines


def _starts_text(starts: Sequence[datetime], grain: Grain) -> str:
    dates = NO_DATES
    for start in starts:
        end = moment_of(unit_start(unit_of(hour_of(start), grain) + 1, grain))
        dates |= dates_between(start, end)
    return dates_text(dates, grain, _MOST)


def _note(dataset_taint: DatasetTaint) -> TaintNote:
    taint = dataset_taint.taint
    return TaintNote(
        dates_text(dataset_taint.tainted, most=_MOST) if dataset_taint.tainted else "",
        taint.dataset,
        dates_text(taint.begin, most=_MOST),
        taint.task,
        taint.run,
        taint.reason,
        taint.link,
        tuple(
            f"{dates_text(again.dates, most=_MOST)} by run {again.run} of {again.task}"
            for again in dataset_taint.superseded[-_MOST:]
        ),
    )
