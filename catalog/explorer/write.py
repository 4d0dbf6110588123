"""The explorer's data: what opens it, and the shards of boxes and columns.

Shards are records in files of at most 64 kB, as scripts, since browsers load no data from
`file://`. Records are in the order of their ids, so datasets of a schema are together. Where a
shard begins is decided by the ids alone, as far as sizes allow: a new table changes the shard that
it is in, and no other. A directory lists where each shard begins. A column is named by the end of
its anchor, which is one for all spellings of its name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import orjson

from dbt_graft.catalog.explorer.boxes import BoxRecord, box_records, dataset_id, task_id
from dbt_graft.catalog.explorer.dates import ExplorerDates
from dbt_graft.catalog.explorer.opening import Opening, opening
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.markup import printable
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN, Evidence, Subtype
from dbt_graft.lineage.urls import column_anchor

FOLDER = "explore/data"
_LONGEST = 200
# Edges in one item of a record: an item is not divided.
_AT_ONCE = 100
_SUBTYPE = {subtype: at for at, subtype in enumerate(Subtype)}
_INFERRED = 16
# What a browser may load at once; shards end before, where an id allows it.
MOST = 64_000
_LEAST = 24_000
_ONE_IN = 48
# A longer record is divided.
_LONGEST_RECORD = 16_000
# Characters that could end a script or that old browsers take for the end of a line.
_ESCAPED = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
}
_Piece = tuple[str, bytes]


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


@frozen
class Record:
    """A record: its id, a head of fixed size, and items that may be divided."""

    id: str
    head: object
    items: Sequence[object]


def write_shards(folder: Path, kind: str, records: Iterable[Record]) -> list[tuple[str, str]]:
    """Write records, which come in the order of their ids, as shards of a kind.

    Returns:
        The directory: for each shard the beginning of its first id, as far as needed to part it
        from the last id of the shard before, and its name.
    """
    target = folder / kind
    target.mkdir(parents=True, exist_ok=True)
    directory: list[tuple[str, str]] = []
    last = ""
    for shard in _shards(_pieces(records)):
        first = shard[0][0]
        name = sha256(first.encode()).hexdigest()[:10]
        content = b"[" + b",\n".join(piece for _, piece in shard) + b"]"
        (target / f"{name}.js").write_bytes(script(f"{kind}/{name}", content))
        directory.append((_beginning(first, last) if directory else "", name))
        last = shard[-1][0]
    return directory


def script(name: str, content: bytes) -> bytes:
    """JSON as a script that hands it to the explorer."""
    return b'graft.explore.take("%s",%s)\n' % (name.encode(), content)


def json(value: object) -> bytes:
    """A value as JSON that no script element ends in."""
    text = orjson.dumps(value)
    for char, escaped in _ESCAPED.items():
        text = text.replace(char, escaped)
    return text


def _pieces(records: Iterable[Record]) -> Iterator[_Piece]:
    """Each record as JSON `[id, pieces, head, items]`; what does not fit is in `[id, items]`."""
    for record in records:
        head, *rest = _divide_items(record.items)
        start = json([record.id, len(rest), record.head])
        yield record.id, start[:-1] + b"," + head + b"]"
        for number, items in enumerate(rest, 1):
            # A blank comes before every character of an id: nothing sorts between.
            id_ = f"{record.id} {number:04}"
            yield id_, b"[" + json(id_) + b"," + items + b"]"


def _divide_items(items: Sequence[object]) -> Iterator[bytes]:
    together = json(items)
    if len(together) - len("[]") <= _LONGEST_RECORD:  # as of most records
        yield together
        return
    part: list[bytes] = []
    size = 0
    for item in map(json, items):
        if part and size + len(item) > _LONGEST_RECORD:
            yield b"[" + b",".join(part) + b"]"
            part, size = [], 0
        part.append(item)
        size += len(item) + 1
    yield b"[" + b",".join(part) + b"]"


def _shards(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    shard: list[_Piece] = []
    size = 0
    for id_, content in pieces:
        begins = size >= _LEAST and crc32(id_.encode()) % _ONE_IN == 0
        if shard and (begins or size + len(content) > MOST - 100):
            yield shard
            shard, size = [], 0
        shard.append((id_, content))
        size += len(content) + 2
    if shard:
        yield shard


def _beginning(first: str, last: str) -> str:
    """The shortest beginning of an id that sorts behind another."""
    for at in range(1, len(first) + 1):
        if first[:at] > last:
            return first[:at]
    return first
