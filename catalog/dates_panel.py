"""The panel of a dataset's dates: its kind, a calendar of states, what it needs and why, taints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from markupsafe import Markup

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.dataset_dates import (
    DatasetDates,
    DatesNeed,
    dataset_dates,
    gaps_now,
    states_now,
)
from dbt_graft.analysis.dates.entity_states import EntityState, EntityStates
from dbt_graft.analysis.dates.recorded_states import DatasetTaint, TaintsNow
from dbt_graft.analysis.render.phrases import count
from dbt_graft.catalog.date_pictures import DRAWN, calendar_pictures, recent_dates, state_sign
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import FIRST, Dates, dates_in, unit_dates, unit_of
from dbt_graft.lineage.dates.dataset_kind import DatasetKind
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.dates.mapping_text import mapping_text
from dbt_graft.lineage.dates.partition_mapping import MappingEvidence, PartitionMapping
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen

_MOST = 12  # ranges of dates in a line
_EXCEPTIONS = 3  # runs that do not agree, in a cell
_YEARS = 20
_DAY_OF = (Grain.HOUR, Grain.DAY)
# What a state of a date means, where its word alone does not say it.
_EXPLANATIONS = {
    EntityState.PARTIAL: "not all of it, or not all that it needs, was there",
    EntityState.UNSURE: "written, and may be partial",
    EntityState.SUSPECT: "may be bad, by an incident",
    EntityState.TAINTED: "bad, by an incident",
    EntityState.SUPERSEDED: "written again by a later run",
}


@frozen
class NeedRow:
    """The dates of an input that a date of the dataset needs.

    Attributes:
        words: `from 6 days before up to the same day`.
        notation: `[-6, 0] by day`, as people declare it.
        why: Its evidence, with the runs that agree.
        exceptions: The ids of runs that read other dates; those that are not named are counted.
    """

    task: str
    source: DatasetId
    words: str
    notation: str
    why: str
    exceptions: str


@frozen
class StateRow:
    """The dates in a state, in words.

    Attributes:
        sign: Its square in the pictures; empty for what is not drawn.
        units: How many units of the grain.
    """

    state: EntityState
    sign: Markup
    explanation: str
    units: int
    dates: str


@frozen
class TaintNote:
    """A taint on record, in words.

    Attributes:
        number: Its id.
        dates: The dates that are still bad; empty where all were written again.
        doubtful: Those that may be.
        begin: The bad write: dataset and dates.
        superseded: `5 Oct 2026 by run x of load` of each clean write.
    """

    number: int
    dates: str
    doubtful: str
    dataset: DatasetId
    begin: str
    task: str
    run: str
    reason: str
    link: str
    superseded: tuple[str, ...]


@frozen
class DatesPanel:
    """The panel.

    Attributes:
        is_dated: Else the dates are those of writes.
        pictures: Oldest first.
        states: Of the dates in the pictures, the worst first.
        years: Each year before them, and its dates by state, the newest first.
        notes: What is not known, was not written, or late, in sentences.
    """

    kind: DatasetKind | None
    grain: Grain
    is_dated: bool
    needs: tuple[NeedRow, ...]
    pictures: tuple[Markup, ...]
    states: tuple[StateRow, ...]
    years: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
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
    states = states_now(history, dataset, taints)
    gaps = gaps_now(states, newest)
    shown = recent_dates(states, gaps)
    grain = Grain.DAY if states.grain in _DAY_OF else states.grain
    dates = dataset_dates(history, states, gaps, shown, grain)
    return DatesPanel(
        dates.kind,
        states.grain,
        states.is_dated,
        tuple(map(_need_row, dates.needs)),
        tuple(calendar_pictures(dates.entities, grain)),
        tuple(_state_rows(dates, shown)),
        tuple(_years(states, shown)),
        tuple(f"{note[0].upper()}{note[1:]}" for note in dates.notes()),
        taint_notes(on_record),
    )


def taint_notes(on_record: Iterable[DatasetTaint]) -> tuple[TaintNote, ...]:
    """The taints of a dataset that are not cleared, in words."""
    return tuple(
        _note(dataset_taint)
        for dataset_taint in on_record
        if dataset_taint.taint.cleared_at is None
    )


def _need_row(need: DatesNeed) -> NeedRow:
    mapping = need.mapping
    others = mapping.exceptions[:_EXCEPTIONS]
    more = len(mapping.exceptions) - len(others)
    exceptions = ", ".join((*others, *([f"{more:,} more"] if more else ())))
    words, notation = mapping_text(mapping), str(mapping)
    return NeedRow(
        need.task,
        need.source,
        words,
        "" if words.endswith(notation) else notation,
        _why(mapping),
        exceptions,
    )


def _why(mapping: PartitionMapping) -> str:
    agreeing = f"{mapping.agreeing:,} of {count(mapping.of, 'run')}"
    match mapping.evidence:
        case MappingEvidence.RUNS:
            return f"inferred: {agreeing} agree"
        case MappingEvidence.HINT:
            return f"not sure yet: {agreeing} agree, three make a rule"
        case MappingEvidence.DECLARED:
            return f"declared; {agreeing} agree" if mapping.of else "declared"
        case MappingEvidence.COLUMN:
            return "inferred: the partition column comes from that of the input"
    runs = f": no rule in {count(mapping.of, 'run')}" if mapping.of else ""
    return f"nothing maps them{runs}"


def _state_rows(dates: DatasetDates, shown: Dates) -> Iterator[StateRow]:
    """Each date once, by the state that is drawn; beside that what was written again."""
    states, left = dates.states, shown
    by_state = states.dates_by_state(shown)
    for state in (*DRAWN, EntityState.SUPERSEDED):
        of_state = by_state[state] & left if state in DRAWN else by_state[state]
        left -= of_state
        if of_state:
            yield StateRow(
                state,
                state_sign(state) if state in DRAWN else Markup(),
                _EXPLANATIONS.get(state, ""),
                of_state.count(states.grain),
                dates_text(of_state, states.grain, _MOST),
            )


def _years(states: EntityStates, shown: Dates) -> Iterator[tuple[str, str]]:
    """The dates before those that are shown, by year and state."""
    bounded = [hours for hours in states.written.ranges if hours[0] > FIRST]
    if not bounded or not shown or bounded[0][0] >= shown.span[0]:
        return
    before = dates_in([(bounded[0][0], shown.span[0])])
    last, first = (unit_of(hour, Grain.YEAR) for hour in (before.span[1] - 1, before.span[0]))
    for year in range(last, max(first - 1, last - _YEARS), -1):
        of_year = unit_dates(year, Grain.YEAR)
        by_state = states.dates_by_state(before & of_year)
        counts = (
            f"{by_state[state].count(states.grain):,} {state}" for state in DRAWN if by_state[state]
        )
        yield dates_text(of_year, Grain.YEAR), ", ".join(counts)


def _note(dataset_taint: DatasetTaint) -> TaintNote:
    taint = dataset_taint.taint
    return TaintNote(
        taint.number,
        _text(dataset_taint.tainted - dataset_taint.doubtful),
        _text(dataset_taint.doubtful),
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


def _text(dates: Dates) -> str:
    return dates_text(dates, most=_MOST) if dates else ""
