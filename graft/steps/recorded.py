"""Taints on record: written, listed, cleared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import click
import orjson

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import BadWrite
from dbt_graft.analysis.dates.taint import Taint
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors import store
from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.dates.calendar import NO_DATES
from dbt_graft.lineage.dates.date_text import dates_iso, dates_text
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.recorded_taint import RecordedSupersession, RecordedTaint


def record_taint(
    config: Config,
    history: AccessHistory,
    bad: Sequence[BadWrite],
    taint: Taint,
    reason: str,
    link: str,
) -> int:
    """Keep a taint in the store, and return its id."""
    store_folder = config.path(config.store)
    now = datetime.now(UTC)
    times = (access.last_at for access in history.lineage.accesses if access.last_at)
    first = bad[0]
    begin = NO_DATES
    for write in bad:
        begin |= write.dates if write.dataset == first.dataset else NO_DATES
    run_write = next((write for write in bad if write.run), first)
    number = store.next_taint_number(store_folder)
    recorded = RecordedTaint(
        number=number,
        recorded_at=now,
        at=max(times, default=now),
        dataset=first.dataset,
        begin=begin,
        task=run_write.task,
        run=run_write.run,
        reason=one_line(reason).strip(),
        link=link,
        tainted=taint.tainted,
        superseded=tuple(
            RecordedSupersession(
                supersession.output[1],
                supersession.dates,
                supersession.task,
                supersession.run,
                supersession.at,
            )
            for supersession in taint.superseded
        ),
    )
    store.write_taint(store_folder, recorded)
    return number


def clear_taint(config: Config, number: int) -> None:
    """End a taint on record; it stays in the list.

    Raises:
        GraftError: There is none of this id.
    """
    store_folder = config.path(config.store)
    taint = next(
        (
            candidate
            for candidate in store.recorded_taints(store_folder)
            if candidate.number == number
        ),
        None,
    )
    if taint is None:
        raise GraftError(
            f"there is no taint {number} on record", remedy="list them with `graft taint --list`"
        )
    if taint.cleared_at is None:
        store.write_taint(store_folder, replace(taint, cleared_at=datetime.now(UTC)))


def print_taints(config: Config, *, as_json: bool) -> None:
    """Print the taints on record, the newest first."""
    taints = store.recorded_taints(config.path(config.store))
    if as_json:
        click.echo(orjson.dumps([*map(_json, taints)], option=orjson.OPT_INDENT_2))
        return
    if not taints:
        click.echo("there is no taint on record")
    for taint in taints:
        click.echo(one_line(_line(taint)))


def _line(taint: RecordedTaint) -> str:
    by = f" by run {taint.run} of {taint.task}" if taint.run else ""
    why = f": {taint.reason}" if taint.reason else ""
    link = f" {taint.link}" if taint.link else ""
    cleared = f", cleared {taint.cleared_at:%Y-%m-%d}" if taint.cleared_at else ""
    dates = dates_text(taint.begin, most=3)
    rest = f", and {len(taint.tainted) - 1:,} more outputs" if len(taint.tainted) > 1 else ""
    return f"{taint.number}  {taint.dataset} {dates}{by}{rest}{cleared}{why}{link}"


def _json(taint: RecordedTaint) -> dict[str, object]:
    return {
        "id": taint.number,
        "recorded_at": taint.recorded_at,
        "dataset": str(taint.dataset),
        "dates": dates_iso(taint.begin),
        "task": taint.task or None,
        "run": taint.run or None,
        "reason": taint.reason or None,
        "link": taint.link or None,
        "cleared_at": taint.cleared_at,
    }
