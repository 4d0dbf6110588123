"""The command `graft states`: which dates of a dataset are there, complete and clean."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.entity_states import (
    EntityState,
    EntityStates,
    entity_states,
    is_valid,
)
from dbt_graft.analysis.dates.kind_of_dataset import dataset_kind
from dbt_graft.analysis.dates.recorded_states import taints_now
from dbt_graft.analysis.dates.tasks_around import tasks_of_states
from dbt_graft.analysis.dates.write_gaps import RECENT, WriteGaps, write_gaps
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.dated_lineage import dated_lineage
from dbt_graft.graft.project.names import find_dataset
from dbt_graft.lineage.dates.calendar import (
    NO_DATES,
    Dates,
    dates_between,
    dates_in,
    hour_of,
    moment_of,
    unit_dates,
    unit_of,
    unit_start,
)
from dbt_graft.lineage.dates.date_text import dates_iso, dates_text, parse_dates
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.errors import GraftError

NOT_READY = 4
_MOST = 10_000  # entities in one answer


@click.command(
    epilog="\b\nExit codes: 0 answered; with --check 4 unless all entities are completed and none "
    "is tainted;\n1 the name is unknown or ambiguous, or the project cannot be read; 2 invalid "
    "command line.\n\n"
    "\b\nExamples:\n"
    "  graft states raw.orders\n"
    "  graft states raw.orders --from 2026-10-01 --to 2026-10-31 --json\n"
    "  graft states mart.weekly --from 2026-10-05 --check && python send_report.py"
)
@click.argument("dataset")
@config_option
@click.option(
    "--from", "first", metavar="DATE", help="The first date.  [default: 30 before the last]"
)
@click.option(
    "--to", "last", metavar="DATE", help="The last date, included.  [default: the newest]"
)
@click.option(
    "--grain",
    type=click.Choice([grain.value for grain in Grain]),
    help="The unit of an entity.  [default: that in which it is written]",
)
@click.option("--check", is_flag=True, help="End with 4 unless all are completed and not tainted.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def states(
    dataset: str,
    config_path: Path | None,
    first: str | None,
    last: str | None,
    grain: str | None,
    *,
    check: bool,
    as_json: bool,
) -> None:
    """Show which dates of a dataset are there, complete and clean.

    Each date is missing, partial, estimated or completed, and may be tainted or superseded. Spark
    is not started, and nothing is written.
    """
    history = dated_lineage(
        load_config(config_path),
        lambda history: tasks_of_states(history, find_dataset(history.lineage, dataset)),
    ).history
    dataset_id = find_dataset(history.lineage, dataset)
    answer = _answer(
        history, entity_states(history, dataset_id, taints_now(history).dates(dataset_id))
    )
    unit = Grain(grain) if grain else answer.states.grain
    entities = list(_entities(answer, _range(answer, first, last, unit), unit))
    if as_json:
        click.echo(orjson.dumps(_json(answer, entities, unit), option=orjson.OPT_INDENT_2))
    else:
        click.echo("\n".join(map(one_line, _lines(answer, entities, unit))))
    if check and not (entities and all(is_valid(entity.states) for entity in entities)):
        sys.exit(NOT_READY)


@dataclass(frozen=True, slots=True)
class _Answer:
    history: AccessHistory
    states: EntityStates
    gaps: WriteGaps
    newest: datetime | None


@dataclass(frozen=True, slots=True)
class _Entity:
    dates: Dates
    states: tuple[EntityState, ...]
    run: tuple[str, str] | None


def _answer(history: AccessHistory, dataset_states: EntityStates) -> _Answer:
    newest = max(
        (access.last_at for access in history.lineage.history.accesses if access.last_at),
        default=None,
    )
    gaps = write_gaps(dataset_states, newest) if newest else WriteGaps(dataset_states.grain)
    return _Answer(history, dataset_states, gaps, newest)


def _range(answer: _Answer, first: str | None, last: str | None, grain: Grain) -> Dates:
    bounded = [span for span in answer.states.written.ranges if not Dates((span,)).is_all]
    end = start = None
    try:
        if last:
            end = parse_dates(last).span[1]
        if first:
            start = parse_dates(first).span[0]
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--from, --to") from error
    if end is None:
        newest = answer.newest
        end = bounded[-1][1] if bounded else hour_of(newest) + 1 if newest else None
        end = end if end is None or start is None else max(end, start + 1)
    if end is None:
        raise GraftError("nothing is known of its dates", place=str(answer.states.dataset))
    if start is None:
        start = unit_start(unit_of(end - 1, grain) - RECENT + 1, grain)
        if bounded and not last:
            start = max(start, bounded[0][0])
    dates = dates_in([(start, end)]).widen(grain)
    if not dates:
        raise click.UsageError("--from is after --to")
    if dates.count(grain) > _MOST:
        raise click.UsageError(f"more than {_MOST:,} entities: name --from and --to, or --grain")
    return dates


def _entities(answer: _Answer, dates: Dates, grain: Grain) -> Iterator[_Entity]:
    for unit in dates.units(grain):
        here = unit_dates(unit, grain)
        yield _Entity(here, answer.states.of_unit(unit, grain), answer.states.run_of(here))


def _lines(answer: _Answer, entities: list[_Entity], grain: Grain) -> Iterator[str]:
    states = answer.states
    kind = dataset_kind(answer.history, states.dataset)
    by = grain if states.is_dated else f"{grain} of its writes, as no log shows dates of its data"
    yield f"{states.dataset}: {f'{kind}, ' if kind else ''}by {by}"
    for edge in answer.history.upstream.get(states.dataset, ()):
        mapping = answer.history.mapping(edge)
        agree = f", {mapping.agreeing:,} of {mapping.of:,} runs" if mapping.of else ""
        yield f"  {edge[0]} needs of {edge[1]}: {mapping} ({mapping.evidence}{agree})"
    for words, group in groupby(entities, key=lambda entity: entity.states):
        dates = NO_DATES
        for entity in group:
            dates |= entity.dates
        yield f"{dates_text(dates, grain):<26} {', '.join(words)}"
    yield from _gap_lines(answer.gaps)


def _gap_lines(gaps: WriteGaps) -> Iterator[str]:
    if gaps.missing:
        text = dates_text(_dates(gaps.missing, gaps.grain), gaps.grain)
        yield f"no write for {len(gaps.missing)} of the last {gaps.of} {gaps.grain}s: {text}"
    if gaps.usual is not None and gaps.usual.total_seconds() > 0:
        hours = gaps.usual.total_seconds() / 3600
        late = [start for start in gaps.late if start not in gaps.missing]
        text = f"; late: {dates_text(_dates(tuple(late), gaps.grain), gaps.grain)}" if late else ""
        yield f"usually written {hours:.1f} hours after the end of its {gaps.grain}{text}"


def _dates(starts: tuple[datetime, ...], grain: Grain) -> Dates:
    dates = NO_DATES
    for start in starts:
        dates |= dates_between(
            start, moment_of(unit_start(unit_of(hour_of(start), grain) + 1, grain))
        )
    return dates


def _json(answer: _Answer, entities: list[_Entity], grain: Grain) -> dict[str, Any]:
    states, gaps = answer.states, answer.gaps
    history = answer.history
    return {
        "dataset": str(states.dataset),
        "kind": dataset_kind(history, states.dataset),
        "grain": grain,
        "dates_of": "data" if states.is_dated else "writes",
        "as_of": answer.newest,
        "entities": [
            {
                "start": start,
                "end": end,
                "states": entity.states,
                "valid": is_valid(entity.states),
                "task": entity.run[0] if entity.run else None,
                "run": entity.run[1] if entity.run else None,
            }
            for entity in entities
            for start, end in dates_iso(entity.dates)
        ],
        "needs": [
            {
                "task": edge[0],
                "input": str(edge[1]),
                "period": mapping.period,
                "offsets": mapping.offsets if mapping.period else None,
                "evidence": mapping.evidence,
                "agreeing": mapping.agreeing,
                "of": mapping.of,
                "exceptions": mapping.exceptions[:20],
            }
            for edge in history.upstream.get(states.dataset, ())
            for mapping in (history.mapping(edge),)
        ],
        "gaps": {
            "of": gaps.of,
            "missing": dates_iso(_dates(gaps.missing, gaps.grain)),
            "late": dates_iso(_dates(gaps.late, gaps.grain)),
            "usual_seconds": gaps.usual.total_seconds() if gaps.usual is not None else None,
        },
    }
