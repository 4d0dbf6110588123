"""The explorer's data: what opens it, and the shards of boxes and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from dbt_graft.catalog.explorer.boxes import BoxRecord, box_records, dataset_id, task_id
from dbt_graft.catalog.explorer.columns import column_records
from dbt_graft.catalog.explorer.dates import ExplorerDates
from dbt_graft.catalog.explorer.opening import Opening, opening
from dbt_graft.catalog.explorer.shards import Record, json, script, write_shards
from dbt_graft.catalog.index import Index

FOLDER = "explore/data"


def opening_view(index: Index) -> Opening:
    """The view that the explorer opens with."""
    ids = [*map(dataset_id, index.datasets), *map(task_id, index.task_names())]
    return opening(index, ids)


def write_explorer(index: Index, view: Opening, site: Path) -> None:
    """Write the explorer's data into a site.

    Raises:
        OSError: A file cannot be written.
    """
    folder = site / FOLDER
    dates = ExplorerDates(index.lineage)
    boxes = write_shards(folder, "boxes", _boxes(box_records(index, dates)))
    columns = write_shards(
        folder, "columns", (Record(record.id, 0, record.items) for record in column_records(index))
    )
    start: dict[str, object] = {"boxes": boxes, "opening": view.data()}
    if days := dates.data():
        start["days"] = days
    (folder / "start.js").write_bytes(script("start", json(start)))
    (folder / "columns.js").write_bytes(script("columns", json(columns)))


def _boxes(records: Iterable[BoxRecord]) -> Iterator[Record]:
    for record in records:
        yield Record(record.id, record.head[1:], [link.data() for link in record.links])
