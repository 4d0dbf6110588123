"""Inline SVG: a neighbourhood as linked boxes and arrows, and runs as bars.

Colours and line styles are in the site's style sheet, by class. The outline of a box shows its
kind without them; a description in words is there for screen readers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf

from markupsafe import Markup

from dbt_graft.catalog.label import (
    NAME_SIZE,
    NOTE_SIZE,
    BoxLabel,
    complete_label,
    labels,
    text_width,
    wanted_width,
)
from dbt_graft.catalog.layout import Layout, Point, Sizes, layout
from dbt_graft.catalog.links import name_beside
from dbt_graft.catalog.markup import text
from dbt_graft.catalog.neighbourhood import Arrow, Box, BoxKey, BoxShape, Neighbourhood
from dbt_graft.catalog.picture_columns import PictureColumns, column_data
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.grouping import group_by_key

_SIZES = Sizes()
_MARGIN = 6
# Narrow pages shrink a picture to this scale at most; beyond that it scrolls.
_MIN_SCALE = 0.66
# Pixels of a page without sidebars in a window of 1,400.
_FULL_WIDTH = 1300
# Pixels of a box to the left and right of its label, beside which is the icon.
_BEFORE, _AFTER = 34, 14
# The letters of a text that is so much too wide move together rather than some of them go.
_SQUEEZE = 1.06


def picture(
    neighbourhood: Neighbourhood, root: str, columns: PictureColumns | None = None
) -> Markup:
    """A neighbourhood as SVG; empty without arrows.

    Args:
        root: The relative path from the page to the site's root, such as `../../`.
        columns: What the boxes unfold to, where the browser runs the site's script.
    """
    if not neighbourhood.arrows:
        return Markup()
    placement = _lay_out(neighbourhood)
    room = [
        (placement.widths[box.key] - _BEFORE - _AFTER) * _SQUEEZE for box in neighbourhood.boxes
    ]
    shown = labels([(box.label, r) for box, r in zip(neighbourhood.boxes, room, strict=True)])
    width, height = placement.width + 2 * _MARGIN, placement.height + 2 * _MARGIN
    arrows = "".join(
        _arrow(arrow, placement.routes[arrow.source, arrow.target])
        for arrow in neighbourhood.arrows
    )
    outlines = _Outlines()
    # A name with a schema needs no namespace, where no other box has it.
    clear = {
        box.key for box in neighbourhood.boxes if isinstance(box.key, DatasetId) and "." in box.name
    }
    names = Counter(box.name for box in neighbourhood.boxes)
    boxes = "".join(
        _box(
            box,
            box.name if box.key in clear and names[box.name] == 1 else box.full_name,
            label,
            placement.corners[box.key],
            placement.widths[box.key],
            root,
            outlines,
            centre=box.key == neighbourhood.centre,
        )
        for box, label in zip(neighbourhood.boxes, shown, strict=True)
    )
    failed = _FAILED_TIP if any(arrow.failed for arrow in neighbourhood.arrows) else ""
    return Markup(  # noqa: S704  # every text is escaped where it is put in
        '<div class="graft-picture" tabindex="0">'
        f'<svg viewBox="{-_MARGIN} {-_MARGIN} {width:.0f} {height:.0f}" width="{width:.0f}"'
        f' height="{height:.0f}" style="min-width:{width * _MIN_SCALE:.0f}px" role="group"'
        f' aria-label="Lineage, left to right"><desc>{text(description(neighbourhood))}</desc>'
        f"<defs>{_TIP}{failed}{outlines.html()}</defs>"
        f'<g class="graft-arrows" marker-end="url(#graft-tip)">{arrows}</g>{boxes}</svg>'
        f"{column_data(neighbourhood, columns) if columns else ''}</div>"
    )


def fits(neighbourhood: Neighbourhood, height: float = inf) -> bool:
    """Whether a page of full width shows the picture without scrolling to the right.

    Args:
        height: So many pixels high it may be.
    """
    placement = _lay_out(neighbourhood)
    return placement.width * _MIN_SCALE <= _FULL_WIDTH and placement.height <= height


def _lay_out(neighbourhood: Neighbourhood) -> Layout[BoxKey]:
    return layout(
        (box.key for box in neighbourhood.boxes),
        ((a.source, a.target) for a in neighbourhood.arrows),
        _SIZES,
        {box.key: wanted_width(box.label) + _BEFORE + _AFTER for box in neighbourhood.boxes},
    )


def description(neighbourhood: Neighbourhood) -> str:
    """The arrows in sentences: `raw.orders feeds analytics.orders, load_stock.`

    Boxes that feed the same share a sentence, and the schema of the box in the middle goes without
    saying.
    """
    centre = neighbourhood.centre
    middle = centre if isinstance(centre, DatasetId) else None
    names = {
        box.key: name_beside(box.key, middle) if isinstance(box.key, DatasetId) else box.name
        for box in neighbourhood.boxes
    }
    fed = group_by_key((arrow.source, names[arrow.target]) for arrow in neighbourhood.arrows)
    sources = group_by_key((tuple(targets), names[source]) for source, targets in fed.items())
    return " ".join(
        f"{_join_names(alike)} {'feed' if len(alike) > 1 else 'feeds'} {', '.join(targets)}."
        for targets, alike in sources.items()
    )


def _join_names(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


_TIP = (
    '<marker id="graft-tip" class="graft-tip" viewBox="0 0 8 8" refX="7" refY="4"'
    ' markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/>'
    "</marker>"
)
_FAILED_TIP = _TIP.replace('graft-tip"', 'graft-tip-failed"', 1).replace(
    'class="graft-tip"', 'class="graft-tip graft-tip--failed"'
)


def _arrow(arrow: Arrow, route: Sequence[Point]) -> str:
    tip = "graft-tip-failed" if arrow.failed else "graft-tip"
    look = f' class="graft-arrow--failed" marker-end="url(#{tip})"' if arrow.failed else ""
    start = f' marker-start="url(#{tip})"' if arrow.both else ""
    return f'<path d="{"".join(_curve(route))}"{look}{start}/>'


def _curve(route: Sequence[Point]) -> Iterator[str]:
    start = route[0]
    yield f"M{start.x:.0f} {start.y:.0f}"
    for at, (a, b) in enumerate(pairwise(route)):
        if at % 2:
            yield f"H{b.x:.0f}"
        else:
            bend = (a.x + b.x) / 2
            yield f"C{bend:.0f} {a.y:.0f} {bend:.0f} {b.y:.0f} {b.x:.0f} {b.y:.0f}"


class _Outlines(dict[tuple[BoxShape, float], str]):
    """Outlines with icons, which boxes of one kind and width share, with the id of each."""

    def __missing__(self, key: tuple[BoxShape, float]) -> str:
        self[key] = f"box-{len(self)}"
        return self[key]

    def html(self) -> str:
        """All of them, to be drawn by their id."""
        return "".join(
            f'<g id="{id_}"><path class="graft-box__shape" d="{_outline(shape, width)}"/>'
            f'<path class="graft-box__icon" d="{_ICONS[shape]}"/></g>'
            for (shape, width), id_ in self.items()
        )


def _box(
    box: Box,
    name: str,
    label: BoxLabel,
    corner: Point,
    width: float,
    root: str,
    outlines: _Outlines,
    *,
    centre: bool,
) -> str:
    """A box; the style sheet puts its lines in their place.

    Args:
        name: That no other box of the picture has.
    """
    classes = f"graft-box graft-box--{box.shape}"
    if centre:
        classes += " graft-box--centre"
    if box.failed:
        classes += " graft-box--failed"
    if box.gone:
        classes += " graft-box--gone"
    # Addresses need no escaping.
    page = box.path if box.path.startswith("#") else root + box.path
    return (
        f'<a class="{classes}" href="{page}"{_CURRENT if centre else ""}'
        f' transform="translate({corner.x:.0f} {corner.y:.0f})">{_title(box, name, label)}'
        f'<use href="#{outlines[box.shape, width]}"/>'
        f"{_line(label.name, NAME_SIZE, width)}{_line(label.note, NOTE_SIZE, width)}</a>"
    )


def _title(box: Box, name: str, label: BoxLabel) -> str:
    """The title of a box, unless its label says the same."""
    if box.failed or box.gone or name != box.name or label != complete_label(box.label):
        state = ", last run failed" if box.failed else ", dropped" if box.gone else ""
        return f"<title>{text(f'{name} ({box.note}{state})')}</title>"
    return ""


_CURRENT = ' aria-current="page"'


def _line(line: str, size: float, width: float) -> str:
    return f"<text{_fit_line(line, size, width)}>{text(line)}</text>"


def _fit_line(line: str, size: float, width: float) -> str:
    """A length for text that nearly fills its box: a wider font must not run out of it."""
    measured = min(text_width(line, size), width - _BEFORE - _AFTER)
    if measured < 0.9 * (width - _BEFORE - _AFTER):
        return ""
    return f' textLength="{measured:.0f}"'


def _outline(shape: BoxShape, w: float) -> str:
    """The SVG path around a box of a width."""
    h = _SIZES.height
    match shape:
        case BoxShape.TASK:
            r = h / 2
            return f"M{r:g} 0H{w - r:g}a{r:g} {r:g} 0 0 1 0 {h:g}H{r:g}a{r:g} {r:g} 0 0 1 0 {-h:g}z"
        case BoxShape.DBT:
            return f"M9 0H{w - 9:g}l9 9V{h - 9:g}l-9 9H9l-9 -9V9z"
        case BoxShape.VIEW:
            return f"M10 0H{w:g}L{w - 10:g} {h:g}H0z"
        case BoxShape.PATH:
            return f"M0 4a4 4 0 0 1 4 -4H58l6 5H{w - 4:g}a4 4 0 0 1 4 4V{h:g}H0z"
        case BoxShape.CONSUMER:
            return f"M0 0H{w - 14:g}L{w:g} {h / 2:g}L{w - 14:g} {h:g}H0z"
        case _:
            return f"M4 0H{w - 4:g}a4 4 0 0 1 4 4V{h - 4:g}a4 4 0 0 1 -4 4H4a4 4 0 0 1 -4 -4V4a4 4 0 0 1 4 -4z"  # noqa: E501


# Strokes in a field of 16 by 16 whose upper left corner is (13, 13) in the box.
_ICONS = {
    BoxShape.TABLE: "M13 14h15v14h-15zM13 19h15M18 19v9",
    BoxShape.VIEW: "M13 21c4 -7 12 -7 16 0c-4 7 -12 7 -16 0zM21 18.5a2.5 2.5 0 1 0 .01 0z",
    BoxShape.PATH: "M13 15h6l2 2h8v11h-16z",
    BoxShape.TOPIC: "M13 16h15M13 21h15M13 26h15",
    BoxShape.DBT: "M21 13l7 4v8l-7 4l-7 -4v-8zM14 17l7 4l7 -4M21 21v8",
    BoxShape.TASK: "M17 14l10 7l-10 7z",
    BoxShape.CONSUMER: "M14 28v-7M19 28v-13M24 28v-10M12 28h15",
    BoxShape.FOLDER: "M13 15h6l2 2h8v11h-16zM13 20h16",
    BoxShape.MORE: "M15 21h.01M21 21h.01M27 21h.01",
}
