"""Inline SVG: a neighbourhood as linked boxes and arrows, and runs as bars.

Colours and line styles are in the site's style sheet, by class. The outline of a box shows its
kind without them; a description in words is there for screen readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from markupsafe import Markup

from dbt_graft.catalog.label import NAME_SIZE, NOTE_SIZE, BoxLabel, labels, text_width, wanted_width
from dbt_graft.catalog.layout import Layout, Point, Sizes, layout
from dbt_graft.catalog.markup import text
from dbt_graft.catalog.neighbourhood import Arrow, Box, BoxKey, BoxShape, Neighbourhood
from dbt_graft.catalog.picture_columns import PictureColumns, column_data
from dbt_graft.lineage.records import NodeResult, Run, Status

_SIZES = Sizes()
_MARGIN = 6
# Narrow pages shrink a picture to this scale at most; beyond that it scrolls.
_MIN_SCALE = 0.66
# Pixels of a page without sidebars in a window of 1,400.
_FULL_WIDTH = 1300
# Pixels of a box to the left and right of its label, beside which is the icon.
_BEFORE, _AFTER = 34, 14


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
    found = _laid_out(neighbourhood)
    room = [found.widths[box.key] - _BEFORE - _AFTER for box in neighbourhood.boxes]
    shown = labels([(box.label, r) for box, r in zip(neighbourhood.boxes, room, strict=True)])
    width, height = found.width + 2 * _MARGIN, found.height + 2 * _MARGIN
    arrows = Markup().join(
        _arrow(arrow, found.routes[arrow.source, arrow.target]) for arrow in neighbourhood.arrows
    )
    boxes = Markup().join(
        _box(
            box,
            label,
            found.corners[box.key],
            found.widths[box.key],
            root,
            centre=box.key == neighbourhood.centre,
        )
        for box, label in zip(neighbourhood.boxes, shown, strict=True)
    )
    return Markup(
        '<div class="graft-picture" tabindex="0" data-search-exclude="1">'
        '<svg viewBox="{0} {0} {1:g} {2:g}" width="{1:g}" height="{2:g}"'
        ' style="min-width:{3:g}px" role="group" aria-label="Lineage, left to right">'
        "<desc>{4}</desc>{5}{6}{7}</svg>{8}</div>"
    ).format(
        -_MARGIN,
        width,
        height,
        width * _MIN_SCALE,
        text(description(neighbourhood)),
        _MARKERS,
        arrows,
        boxes,
        column_data(neighbourhood, columns) if columns else "",
    )


def fits(neighbourhood: Neighbourhood) -> bool:
    """Whether a page of full width shows the picture without scrolling to the right."""
    return _laid_out(neighbourhood).width * _MIN_SCALE <= _FULL_WIDTH


def _laid_out(neighbourhood: Neighbourhood) -> Layout[BoxKey]:
    return layout(
        (box.key for box in neighbourhood.boxes),
        ((a.source, a.target) for a in neighbourhood.arrows),
        _SIZES,
        {box.key: wanted_width(box.label) + _BEFORE + _AFTER for box in neighbourhood.boxes},
    )


def description(neighbourhood: Neighbourhood) -> str:
    """The arrows in sentences: `raw.orders feeds analytics.orders.`"""
    names = {box.key: box.name for box in neighbourhood.boxes}
    return " ".join(f"{names[a.source]} feeds {names[a.target]}." for a in neighbourhood.arrows)


_MARKERS = Markup(
    "<defs>"
    '<marker id="graft-tip" class="graft-tip" viewBox="0 0 8 8" refX="7" refY="4"'
    ' markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/>'
    "</marker>"
    '<marker id="graft-tip-failed" class="graft-tip graft-tip--failed" viewBox="0 0 8 8" refX="7"'
    ' refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
    '<path d="M0 0L8 4L0 8z"/></marker>'
    "</defs>"
)


def _arrow(arrow: Arrow, route: Sequence[Point]) -> Markup:
    tip = "graft-tip-failed" if arrow.failed else "graft-tip"
    return Markup('<path class="graft-arrow{}" d="{}" marker-end="url(#{})"{}/>').format(
        " graft-arrow--failed" if arrow.failed else "",
        "".join(_curve(route)),
        tip,
        Markup(' marker-start="url(#{})"').format(tip) if arrow.both else "",
    )


def _curve(route: Sequence[Point]) -> Iterator[str]:
    start = route[0]
    yield f"M{start.x:g} {start.y:g}"
    for at, (a, b) in enumerate(pairwise(route)):
        if at % 2:
            yield f"H{b.x:g}"
        else:
            bend = (a.x + b.x) / 2
            yield f"C{bend:g} {a.y:g} {bend:g} {b.y:g} {b.x:g} {b.y:g}"


def _box(
    box: Box, label: BoxLabel, corner: Point, width: float, root: str, *, centre: bool
) -> Markup:
    classes = f"graft-box graft-box--{box.shape}"
    classes += " graft-box--centre" if centre else ""
    classes += " graft-box--failed" if box.failed else ""
    anchor = box.path.startswith("#")
    return Markup(
        '<a class="{}" href="{}"{} transform="translate({:g} {:g})"><title>{}</title>'
        '<path class="graft-box__shape" d="{}"/><path class="graft-box__icon" d="{}"/>'
        '<text class="graft-box__name" x="{}" y="18"{}>{}</text>'
        '<text class="graft-box__note" x="{}" y="32"{}>{}</text></a>'
    ).format(
        classes,
        box.path if anchor else root + box.path,
        Markup(' aria-current="page"') if centre else "",
        corner.x,
        corner.y,
        text(f"{box.full_name} ({box.note}{', last run failed' if box.failed else ''})"),
        _outline(box.shape, width),
        _ICONS[box.shape],
        _BEFORE,
        _fitted(label.name, NAME_SIZE, width),
        text(label.name),
        _BEFORE,
        _fitted(label.note, NOTE_SIZE, width),
        text(label.note),
    )


def _fitted(line: str, size: float, width: float) -> Markup:
    """A length for text that nearly fills its box: a wider font must not run out of it."""
    measured = min(text_width(line, size), width - _BEFORE - _AFTER)
    if measured < 0.8 * (width - _BEFORE - _AFTER):
        return Markup()
    return Markup(' textLength="{:g}" lengthAdjust="spacingAndGlyphs"').format(round(measured, 1))


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


_BAR_WIDTH, _BAR_GAP, _BAR_HEIGHT = 9, 3, 44


def run_bars(runs: Sequence[Run | NodeResult]) -> Markup:
    """The newest 30 runs as bars, oldest first: height is duration, failed ones are red.

    Empty for fewer than two runs.
    """
    shown = list(reversed(runs[:30]))
    if len(shown) < 2:
        return Markup()
    seconds = [_seconds(run) for run in shown]
    longest = max(seconds) or 1.0
    bars = Markup().join(
        Markup(
            '<rect class="graft-bar graft-bar--{}" x="{}" y="{:g}" width="{}" height="{:g}" rx="1">'
            "<title>{}</title></rect>"
        ).format(
            run.status,
            at * (_BAR_WIDTH + _BAR_GAP),
            _BAR_HEIGHT - height,
            _BAR_WIDTH,
            height,
            f"{run.started_at:%Y-%m-%d %H:%M} UTC, {took:.0f} s, {run.status}"
            if run.started_at
            else str(run.status),
        )
        for at, (run, took) in enumerate(zip(shown, seconds, strict=True))
        for height in [round(max(3.0, took / longest * _BAR_HEIGHT), 1)]
    )
    failed = sum(run.status is Status.FAILED for run in shown)
    return Markup(
        '<svg class="graft-bars" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img"'
        ' aria-label="The last {2} runs, {3} failed; the height of a bar is the run\'s duration">'
        "{4}</svg>"
    ).format(len(shown) * (_BAR_WIDTH + _BAR_GAP), _BAR_HEIGHT, len(shown), failed, bars)


def _seconds(run: Run | NodeResult) -> float:
    if run.started_at is None or run.ended_at is None:
        return 0.0
    return max((run.ended_at - run.started_at).total_seconds(), 0.0)
