"""The explorer's data: what opens it, and the shards of boxes and columns.

A column is named by the end of its anchor, which is one for all spellings of its name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from dbt_graft.catalog.explorer.boxes import BoxRecord, box_records, dataset_id, task_id
from dbt_graft.catalog.explorer.dates import ExplorerDates
from dbt_graft.catalog.explorer.opening import Opening, opening
from dbt_graft.catalog.explorer.shards import Record, json, script, write_shards
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.markup import printable
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, Evidence, Subtype
from dbt_graft.lineage.urls import column_anchor

FOLDER = "explore/data"
_LONGEST = 200
# Edges in one item of a record: an item is not divided.
_AT_ONCE = 100
_SUBTYPE = {subtype: at for at, subtype in enumerate(Subtype)}
_INFERRED = 16


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
    columns = write_shards(folder, "columns", column_records(index))
    start: dict[str, object] = {"boxes": boxes, "opening": view.data()}
    if days := dates.data():
        start["days"] = days
    (folder / "start.js").write_bytes(script("start", json(start)))
    (folder / "columns.js").write_bytes(script("columns", json(columns)))


def _boxes(records: Iterable[BoxRecord]) -> Iterator[Record]:
    for record in records:
        yield Record(record.id, record.head[1:], [link.data() for link in record.links])


def column_records(index: Index) -> Iterator[Record]:
    """The records of all datasets with columns, by id: the columns, and the edges into them.

    A column is its name, or `[name, slug]` where the slug is another. Edges are
    `[0, source, task, column, source column, kind, …]`: the number of the column, -1 for all rows;
    the slug of the source column, 0 where it is the same; the subtype's number, with 16 more
    where the edge is inferred.
    """
    for id_, dataset in sorted((dataset_id(dataset), dataset) for dataset in index.datasets):
        columns = index.columns(dataset)
        if not columns:
            continue
        slugs = {key: column_anchor(key).removeprefix("column-") for key in columns}
        names = [_name_entry(column.name, slugs[key]) for key, column in columns.items()]
        edges = _edges(index, dataset, slugs)
        yield Record(id_, 0, [*names, *edges])


def _name_entry(name: str, slug: str) -> object:
    shown = printable(name)
    return shown if shown.lower() == slug else [shown[:_LONGEST], slug]


def _edges(index: Index, dataset: DatasetId, slugs: dict[str, str]) -> Iterator[list[object]]:
    number = {key: at for at, key in enumerate(slugs)}
    kinds_by_flow: dict[tuple[DatasetId, str], dict[tuple[int, object], int]] = defaultdict(dict)
    for edge in index.columns_to.get(dataset, ()):
        if edge.from_dataset == dataset:
            continue
        key = edge.to_column.casefold()
        target = number.get(key, -1)
        source: object = ""
        if edge.from_column != ANY_COLUMN:
            slug = column_anchor(edge.from_column).removeprefix("column-")
            source = 0 if slug == slugs.get(key) else slug
        if target < 0 and source == "":
            continue
        kind = _SUBTYPE[edge.subtype] + (_INFERRED if edge.evidence is Evidence.INFERRED else 0)
        kinds = kinds_by_flow[edge.from_dataset, edge.task]
        kinds[target, source] = min(kind, kinds.get((target, source), kind))
    for (source_dataset, task), kinds in sorted(kinds_by_flow.items()):
        edges = [(*ends, kind) for ends, kind in kinds.items()]
        for at in range(0, len(edges), _AT_ONCE):
            numbers = [value for edge_ in edges[at : at + _AT_ONCE] for value in edge_]
            through = task_id(task) if task in index.tasks else ""
            yield [0, dataset_id(source_dataset), through, *numbers]
