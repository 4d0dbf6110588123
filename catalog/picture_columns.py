"""The columns of a picture's boxes and the lines between them, as data for the site's script.

Without the script the page's lists say the same, so the data has limits: of a wide table the
columns that have lines come first, and of many lines those next to the centre.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TypeVar

from markupsafe import Markup

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.markup import visible_name
from dbt_graft.catalog.neighbourhood import Box, BoxKey, Neighbourhood
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType, Evidence
from dbt_graft.lineage.urls import column_anchor

T = TypeVar("T", bound=Hashable)

_MAX_LINES = 500
# Columns of one box, and of all of them together.
_MAX_COLUMNS, _MAX_NAMES = 40, 600
_FEWEST = 6
# Characters that could end the script element, or that Markdown could read.
_ESCAPED = {ord(char): f"\\u{ord(char):04x}" for char in "<>&'`~\x7f"}


class LineStyle(IntEnum):
    """The styles of lines, strongest first."""

    DIRECT = 0
    INFERRED = 1
    INDIRECT = 2


_WEAKER = len(LineStyle)


@frozen
class BoxColumns:
    """The columns of a box that are listed, by their folded names; `omitted` more are not."""

    names: Mapping[str, str]
    omitted: int = 0


@frozen
class ColumnLines:
    """The lines between columns of two boxes, by one task.

    Attributes:
        task: The task's box that they pass through, if there is one.
        columns: The folded names of both columns and the style of each line; a name is empty where
            the box itself is the end.
    """

    source: BoxKey
    target: BoxKey
    task: BoxKey | None
    columns: Sequence[tuple[str, str, LineStyle]]


@frozen
class PictureColumns:
    """The columns of a picture's boxes, and the lines between them."""

    boxes: Mapping[BoxKey, BoxColumns]
    lines: tuple[ColumnLines, ...]


def picture_columns(index: Index, neighbourhood: Neighbourhood) -> PictureColumns:
    """The columns of a neighbourhood's datasets with the lines between them."""
    boxes = {box.key: box for box in neighbourhood.boxes}
    datasets = {entity: box for entity, box in boxes.items() if isinstance(entity, DatasetId)}
    lines = list(_limit_lines(_lines(index, datasets, boxes)))
    most = max(_FEWEST, min(_MAX_COLUMNS, _MAX_NAMES // max(len(datasets), 1)))
    connected: dict[BoxKey, dict[str, None]] = {box.key: {} for box in datasets.values()}
    for pair in lines:
        sources, targets = connected[pair.source], connected[pair.target]
        for source, target, _ in pair.columns:
            sources[source] = targets[target] = None
    columns = {
        box.key: _list_columns(index, dataset, connected[box.key], most)
        for dataset, box in datasets.items()
    }
    return PictureColumns(
        {key: box_columns for key, box_columns in columns.items() if box_columns.names},
        tuple(_keep_listed(pair, columns[pair.source], columns[pair.target]) for pair in lines),
    )


def _list_columns(
    index: Index, dataset: DatasetId, connected: Mapping[str, None], most: int
) -> BoxColumns:
    columns = index.columns(dataset)
    if len(columns) <= most:
        return BoxColumns({key: column.name for key, column in columns.items()})
    chosen = set([*(name for name in connected if name in columns), *columns][:most])
    if len(chosen) < most:
        chosen |= set([name for name in columns if name not in chosen][: most - len(chosen)])
    names = {key: column.name for key, column in columns.items() if key in chosen}
    return BoxColumns(names, len(columns) - len(names))


def _keep_listed(lines: ColumnLines, source: BoxColumns, target: BoxColumns) -> ColumnLines:
    """The lines whose ends are listed in both boxes."""
    if not source.omitted and not target.omitted:
        return lines
    columns = [
        line
        for line in lines.columns
        if (not line[0] or line[0] in source.names) and (not line[1] or line[1] in target.names)
    ]
    return ColumnLines(lines.source, lines.target, lines.task, columns)


def _limit_lines(pairs: Iterable[ColumnLines]) -> Iterator[ColumnLines]:
    left = _MAX_LINES
    for pair in pairs:
        columns = pair.columns[:left]
        yield pair if len(columns) == len(pair.columns) else replace(pair, columns=columns)
        left -= len(columns)
        if not left:
            return


def _lines(
    index: Index,
    datasets: Mapping[DatasetId, Box],
    boxes: Mapping[DatasetId | str | int, Box],
) -> Iterator[ColumnLines]:
    """The lines between boxes, those next to the centre first."""
    near = sorted(datasets, key=lambda dataset: (abs(datasets[dataset].distance), dataset))
    pairs: dict[tuple[DatasetId, DatasetId], None] = {}
    for dataset in near:
        for parent in index.column_parents(dataset):
            if parent in datasets:
                pairs[parent, dataset] = None
        for child in index.column_children(dataset):
            if child in datasets:
                pairs[dataset, child] = None
    for source, target in pairs:
        edges = index.columns_between[source, target]
        for task, columns in _lines_between(edges).items():
            box = boxes.get(task)
            yield ColumnLines(
                datasets[source].key, datasets[target].key, box.key if box else None, columns
            )


def _lines_between(
    edges: Iterable[ColumnEdge],
) -> dict[str, list[tuple[str, str, LineStyle]]]:
    """The lines between two datasets by task, each column with its strongest style."""
    styles: dict[str, dict[tuple[str, str], LineStyle]] = {}
    for edge in edges:
        ends = _fold_name(edge.from_column), _fold_name(edge.to_column)
        if ends[0] or ends[1]:
            of_task = styles.setdefault(edge.task, {})
            style = _style(edge)
            if style < of_task.get(ends, _WEAKER):
                of_task[ends] = style
    return {
        task: [(*ends, style) for ends, style in of_task.items()]
        for task, of_task in styles.items()
    }


def _style(edge: ColumnEdge) -> LineStyle:
    if edge.type is EdgeType.INDIRECT:
        return LineStyle.INDIRECT
    return LineStyle.INFERRED if edge.evidence is Evidence.INFERRED else LineStyle.DIRECT


def _fold_name(column: str) -> str:
    return "" if column == ANY_COLUMN else column.casefold()


def column_data(neighbourhood: Neighbourhood, columns: PictureColumns) -> Markup:
    """The data as a script element that no browser runs; empty without columns.

    Boxes are numbered in the order of the picture. What many boxes have stands there once: `names`
    of columns, `lists` of names, `ways` from column to column. A column's anchor is there where
    its name alone does not make it.
    """
    if not columns.boxes:
        return Markup()
    number = {box.key: at for at, box in enumerate(neighbourhood.boxes)}
    names: _Once[str] = _Once()
    lists: _Once[tuple[int, ...]] = _Once()
    ways: _Once[tuple[int, ...]] = _Once()
    boxes: list[object] = []
    for box in neighbourhood.boxes:
        if listed := columns.boxes.get(box.key):
            position = lists.number(tuple(map(names.number, listed.names.values())))
            boxes.append([position, listed.omitted] if listed.omitted else [position])
        else:
            boxes.append(0)
    lines = [
        [
            number[pair.source],
            number[pair.target],
            -1 if pair.task is None else number[pair.task],
            ways.number(_way(pair, columns.boxes)),
        ]
        for pair in columns.lines
        if pair.columns and pair.source in columns.boxes and pair.target in columns.boxes
    ]
    data = {
        "names": [_name_entry(name) for name in names],
        # The first names in their order, as of the first box with columns, by their number.
        "lists": [
            len(numbers) if numbers == tuple(range(len(numbers))) else numbers for numbers in lists
        ],
        "boxes": boxes,
        "arrows": [[number[arrow.source], number[arrow.target]] for arrow in neighbourhood.arrows],
        "ways": list(ways),
        "lines": lines,
    }
    text = json.dumps(data, separators=(",", ":")).translate(_ESCAPED)
    return Markup(f'<script type="application/json">{text}</script>')  # noqa: S704


def _way(lines: ColumnLines, boxes: Mapping[BoxKey, BoxColumns]) -> tuple[int, ...]:
    """Both columns of each line, -1 for the box itself, and its style."""
    sources, targets = (
        {name: at for at, name in enumerate(boxes[key].names)} | {"": -1}
        for key in (lines.source, lines.target)
    )
    return tuple(
        number
        for source, target, style in lines.columns
        for number in (sources[source], targets[target], int(style))
    )


class _Once(dict[T, int]):
    """Values, each once, with the place of each."""

    def number(self, value: T) -> int:
        """Its place; a new value comes last."""
        return self.setdefault(value, len(self))


def _name_entry(name: str) -> str | Sequence[str]:
    anchor, label = column_anchor(name), visible_name(name)
    return label if anchor == f"column-{label.lower()}" else [label, anchor]
