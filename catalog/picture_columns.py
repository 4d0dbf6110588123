"""The columns of a picture's boxes and the lines between them, as data for the site's script.

Without the script the page's lists say the same, so the data has limits: of a wide table the
columns that have lines come first, and of many lines those next to the centre.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from markupsafe import Markup

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.markup import shown
from dbt_graft.catalog.neighbourhood import Box, BoxKey, Neighbourhood, dataset_key, task_key
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType, Evidence
from dbt_graft.lineage.urls import column_anchor

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


@dataclass(frozen=True, slots=True)
class BoxColumns:
    """The columns of a box that are listed, by their folded names; `omitted` more are not."""

    names: Mapping[str, str]
    omitted: int = 0


@dataclass(frozen=True, slots=True, order=True)
class ColumnArrow:
    """A line between columns of two boxes; a column is empty where the box itself is the end.

    Attributes:
        task: The task's box that it passes through, if there is one.
    """

    source: BoxKey
    source_column: str
    target: BoxKey
    target_column: str
    task: BoxKey | None
    style: LineStyle


@dataclass(frozen=True, slots=True)
class PictureColumns:
    """The columns of a picture's boxes, and the lines between them."""

    boxes: Mapping[BoxKey, BoxColumns]
    lines: tuple[ColumnArrow, ...]


def picture_columns(index: Index, neighbourhood: Neighbourhood) -> PictureColumns:
    """The columns of a neighbourhood's datasets with the lines between them."""
    boxes = {box.key: box for box in neighbourhood.boxes}
    datasets = {key: key.of for key in boxes if isinstance(key.of, DatasetId)}
    lines = _lines(index, boxes, datasets)
    most = max(_FEWEST, min(_MAX_COLUMNS, _MAX_NAMES // max(len(datasets), 1)))
    connected: dict[BoxKey, dict[str, None]] = {key: {} for key in datasets}
    for line in lines:
        connected[line.source][line.source_column] = None
        connected[line.target][line.target_column] = None
    columns = {
        key: _listed(index, dataset, connected[key], most) for key, dataset in datasets.items()
    }
    return PictureColumns(
        {key: found for key, found in columns.items() if found.names},
        tuple(
            line
            for line in lines
            if _is_end(columns[line.source], line.source_column)
            and _is_end(columns[line.target], line.target_column)
        ),
    )


def _listed(
    index: Index, dataset: DatasetId, connected: Mapping[str, None], most: int
) -> BoxColumns:
    every = index.columns(dataset)
    chosen = set([*(name for name in connected if name in every), *every][:most])
    if len(every) > len(chosen) and len(chosen) < most:
        chosen |= set([name for name in every if name not in chosen][: most - len(chosen)])
    names = {key: column.name for key, column in every.items() if key in chosen}
    return BoxColumns(names, len(every) - len(names))


def _is_end(columns: BoxColumns, name: str) -> bool:
    return not name or name in columns.names


def _lines(
    index: Index, boxes: Mapping[BoxKey, Box], datasets: Mapping[BoxKey, DatasetId]
) -> list[ColumnArrow]:
    """The lines between boxes, those next to the centre first."""
    near = sorted(datasets, key=lambda key: (abs(boxes[key].distance), key))
    shown = set(datasets.values())
    pairs: dict[tuple[DatasetId, DatasetId], None] = {}
    for dataset in (datasets[key] for key in near):
        pairs |= {(one, dataset): None for one in sorted(index.column_parents(dataset) & shown)}
        pairs |= {(dataset, one): None for one in sorted(index.column_children(dataset) & shown)}
    found: dict[ColumnArrow, None] = {}
    for pair in pairs:
        found |= dict.fromkeys(_lines_between(index.columns_between[pair], pair, boxes))
        if len(found) > _MAX_LINES:
            break
    return list(found)[:_MAX_LINES]


def _lines_between(
    edges: Iterable[ColumnEdge], pair: tuple[DatasetId, DatasetId], boxes: Mapping[BoxKey, Box]
) -> Iterator[ColumnArrow]:
    """The lines between two datasets, each column by each task with its strongest style."""
    styles: dict[tuple[str, str, str], LineStyle] = {}
    for edge in edges:
        ends = _folded(edge.from_column), _folded(edge.to_column), edge.task
        if ends[0] or ends[1]:
            style = _style(edge)
            styles[ends] = min(style, styles.get(ends, style))
    source, target = map(dataset_key, pair)
    tasks = {task: task_key(task) for _, _, task in styles}
    for (source_column, target_column, task), style in styles.items():
        through = tasks[task] if tasks[task] in boxes else None
        yield ColumnArrow(source, source_column, target, target_column, through, style)


def _style(edge: ColumnEdge) -> LineStyle:
    if edge.type is EdgeType.INDIRECT:
        return LineStyle.INDIRECT
    return LineStyle.INFERRED if edge.evidence is Evidence.INFERRED else LineStyle.DIRECT


def _folded(column: str) -> str:
    return "" if column == ANY_COLUMN else column.casefold()


def column_data(neighbourhood: Neighbourhood, columns: PictureColumns) -> Markup:
    """The data as a script element that no browser runs; empty without columns.

    Boxes and columns are numbered in the order of the picture; a column's anchor is there where
    its name alone does not make it.
    """
    if not columns.boxes:
        return Markup()
    number = {box.key: at for at, box in enumerate(neighbourhood.boxes)}
    data = {
        "boxes": [
            [[_named(name) for name in box.names.values()], box.omitted]
            if (box := columns.boxes.get(one.key))
            else 0
            for one in neighbourhood.boxes
        ],
        "arrows": [[number[arrow.source], number[arrow.target]] for arrow in neighbourhood.arrows],
        "lines": [[*ends, numbers] for ends, numbers in _numbered(columns, number).items()],
    }
    text = json.dumps(data, separators=(",", ":")).translate(_ESCAPED)
    return Markup('<script type="application/json">{}</script>').format(Markup(text))  # noqa: S704


def _numbered(
    columns: PictureColumns, number: Mapping[BoxKey, int]
) -> dict[tuple[int, int, int], list[int]]:
    """The lines by source, target and task: both columns and the style of each in one list."""
    place = {
        key: {name: at for at, name in enumerate(box.names)} | {"": -1}
        for key, box in columns.boxes.items()
    }
    found: dict[tuple[int, int, int], list[int]] = {}
    for line in columns.lines:
        if line.source in place and line.target in place:
            task = number[line.task] if line.task else -1
            found.setdefault((number[line.source], number[line.target], task), []).extend(
                (
                    place[line.source][line.source_column],
                    place[line.target][line.target_column],
                    line.style,
                )
            )
    return found


def _named(name: str) -> str | Sequence[str]:
    anchor, label = column_anchor(name), shown(name)
    return label if anchor == f"column-{label.lower()}" else [label, anchor]
