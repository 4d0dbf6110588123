"""Taints on record, in files of the store: `taints/000003.json`, one each.

Like the builds they are no records of logs, and no batch has them: somebody wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from dbt_graft.collectors.files import filesystem, numbered_files
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import NO_DATES, Dates
from dbt_graft.lineage.dates.date_text import dates_from_iso, dates_iso
from dbt_graft.lineage.recorded_taint import RecordedSupersession, RecordedTaint

TAINTS = "taints"


def recorded_taints(store: str) -> tuple[RecordedTaint, ...]:
    """The taints on record, cleared ones too, the newest first.

    Raises:
        StoreError: A file is damaged.
    """
    files, root = filesystem(store)
    taints = []
    for number in sorted(numbered_files(files, f"{root}/{TAINTS}", ".json"), reverse=True):
        path = f"{TAINTS}/{number:06}.json"
        try:
            with files.open_input_stream(f"{root}/{path}") as file:
                taints.append(_taint(number, orjson.loads(file.read())))
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise StoreError(
                "a taint on record cannot be read",
                place=f"{store}/{path}",
                remedy="restore the file from a backup, or delete it and record the taint again",
            ) from error
    return tuple(taints)


def next_taint_number(store: str) -> int:
    """The id of the next taint."""
    files, root = filesystem(store)
    return max(numbered_files(files, f"{root}/{TAINTS}", ".json"), default=0) + 1


def write_taint(store: str, taint: RecordedTaint) -> None:
    """Write a taint, in place of its own file if it has one."""
    files, root = filesystem(store)
    files.create_dir(f"{root}/{TAINTS}")
    beside = f"{root}/{TAINTS}/.new-{taint.number}"
    with files.open_output_stream(beside) as out:
        out.write(orjson.dumps(_taint_json(taint), option=orjson.OPT_INDENT_2))
    files.move(beside, f"{root}/{TAINTS}/{taint.number:06}.json")


def _taint_json(taint: RecordedTaint) -> dict[str, Any]:
    return {
        "recorded_at": taint.recorded_at.isoformat(),
        "at": taint.at.isoformat(),
        "dataset": _dataset_json(taint.dataset),
        "begin": dates_iso(taint.begin),
        "task": taint.task,
        "run": taint.run,
        "reason": taint.reason,
        "link": taint.link,
        "cleared_at": taint.cleared_at.isoformat() if taint.cleared_at else None,
        "tainted": [
            {
                "task": output[0],
                **_dataset_json(output[1]),
                "dates": dates_iso(dates),
                "doubtful": dates_iso(taint.doubtful.get(output, NO_DATES)),
            }
            for output, dates in taint.tainted.items()
        ],
        "superseded": [
            {
                **_dataset_json(supersession.dataset),
                "dates": dates_iso(supersession.dates),
                "task": supersession.task,
                "run": supersession.run,
                "at": supersession.at.isoformat(),
            }
            for supersession in taint.superseded
        ],
    }


def _taint(number: int, value: Mapping[str, Any]) -> RecordedTaint:
    cleared = value["cleared_at"]
    return RecordedTaint(
        number=number,
        recorded_at=datetime.fromisoformat(value["recorded_at"]),
        at=datetime.fromisoformat(value["at"]),
        dataset=_dataset(value["dataset"]),
        begin=_dates(value["begin"]),
        task=str(value["task"]),
        run=str(value["run"]),
        reason=str(value["reason"]),
        link=str(value["link"]),
        tainted={
            (str(entry["task"]), _dataset(entry)): _dates(entry["dates"])
            for entry in value["tainted"]
        },
        doubtful={
            (str(entry["task"]), _dataset(entry)): doubtful
            for entry in value["tainted"]
            if (doubtful := _dates(entry["doubtful"]))
        },
        superseded=tuple(
            RecordedSupersession(
                _dataset(entry),
                _dates(entry["dates"]),
                str(entry["task"]),
                str(entry["run"]),
                datetime.fromisoformat(entry["at"]),
            )
            for entry in value["superseded"]
        ),
        cleared_at=datetime.fromisoformat(cleared) if cleared else None,
    )


def _dataset_json(dataset: DatasetId) -> dict[str, str]:
    return {"namespace": dataset.namespace, "name": dataset.name}


def _dataset(value: Mapping[str, Any]) -> DatasetId:
    return DatasetId(value["namespace"], value["name"])


def _dates(ranges: list[list[str | None]]) -> Dates:
    return dates_from_iso(ranges)
