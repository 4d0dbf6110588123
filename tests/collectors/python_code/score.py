"""The source of a script as it was read, held against the block at its head."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

from dbt_graft.lineage.code import CodeEdge, TaskCode
from dbt_graft.lineage.frozen import frozen
from tests.collectors.python_code.blocks import Block, Edge

ROWS = "*"
# A source's column, and whether its value goes into the target's.
Part = tuple[str, str, bool]


class Verdict(StrEnum):
    """Quality of what was read of a column, the better ones first."""

    EXACT = "exact"
    GAP = "gap"  # incomplete, or all that goes into a function, and a gap tells it
    KIND = "kind"  # the right sources, as another kind
    SILENT = "silent"  # incomplete, and nothing tells it
    WRONG = "wrong"  # a source that it has not


@frozen
class ColumnScore:
    """A column of a target, or the choice of its rows (`*`), and how it was read."""

    target: str
    column: str
    verdict: Verdict
    differs: str = ""

    @property
    def is_rows(self) -> bool:
        """It is the choice of rows, no column."""
        return self.column == ROWS


@frozen
class Score:
    """A script, and how it was read.

    Attributes:
        wrong_edges: Those that are not so, of `edges` in all, without those beside a gap.
        gaps: Gaps that are needless, or at other lines than those that cause them.
    """

    columns: tuple[ColumnScore, ...]
    wrong_edges: int
    edges: int
    gaps: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        """All is as the block has it."""
        return not self.gaps and all(score.verdict is Verdict.EXACT for score in self.columns)


def score(block: Block, code: TaskCode) -> Score:
    """Hold what was read in a script's source against its block."""
    actual = [(".".join(edge.to_table), edge) for edge in code.edges]
    written = {(".".join(write.table), name) for write in code.writes for name in write.columns}
    written |= {(target, edge.to_column) for target, edge in actual}
    keys = block.columns | written
    keys |= {(edge.target, edge.column) for edge in block.edges if not edge.may}
    scores = tuple(
        _score_column(block, code, key, [edge for target, edge in actual if target == key[0]])
        for key in sorted(keys)
    )
    wrong = sum(
        not _has_gap(code, target, edge.to_column)
        and _part(edge)[:2] not in {part[:2] for part in _allowed(block, target, edge.to_column)}
        for target, edge in actual
    )
    return Score(scores, wrong, len(actual), tuple(_gap_faults(block, code)))


def _score_column(
    block: Block, code: TaskCode, key: tuple[str, str], edges: list[CodeEdge]
) -> ColumnScore:
    target, column = key
    parts = [edge for edge in edges if edge.to_column == column]
    expected = [e for e in block.edges if (e.target, e.column) == key and not e.may]
    has_open_gap = (target, "*") in block.gaps
    if key not in block.columns and column != ROWS and not has_open_gap:
        return ColumnScore(*key, Verdict.WRONG, "no such column")
    sources = {_part(edge)[:2] for edge in parts}
    allowed = _allowed(block, *key)
    if wrong := sources - {part[:2] for part in allowed}:
        verdict = Verdict.GAP if _has_gap(code, *key) else Verdict.WRONG
        return ColumnScore(*key, verdict, f"+ {_names(wrong)}")
    missing = {(e.source, e.from_column) for e in expected} - sources
    is_written = any(
        ".".join(write.table) == target and (column in write.columns or write.is_open)
        for write in code.writes
    )
    if missing or not (parts or is_written or has_open_gap):
        verdict = Verdict.GAP if _has_gap(code, *key) else Verdict.SILENT
        return ColumnScore(*key, verdict, f"- {_names(missing)}" if missing else "not written")
    wanted = {_described(edge, block.columns) for edge in expected}
    there = {_described_actual(edge, block.columns) for edge in parts}
    optional = {_described(e, block.columns) for e in block.edges if e.may and e.target == target}
    differing = (wanted - there) | (there - wanted - optional)
    if differing and not has_open_gap and key not in block.gaps:
        return ColumnScore(*key, Verdict.KIND, _names(differing))
    if key in block.gaps and not _has_gap(code, *key):
        return ColumnScore(*key, Verdict.SILENT, "no gap")
    return ColumnScore(*key, Verdict.EXACT)


def _allowed(block: Block, target: str, column: str) -> set[Part]:
    columns = {column, "*"} if (target, "*") in block.gaps else {column}
    return {
        (edge.source, edge.from_column, edge.is_direct)
        for edge in block.edges
        if edge.target == target and edge.column in columns
    }


def _part(edge: CodeEdge) -> Part:
    kind = edge.subtype.replace("_", " ").lower()
    is_direct = kind in ("identity", "transformation", "aggregation")
    return ".".join(edge.from_table), edge.from_column, is_direct


def _described(edge: Edge, columns: Iterable[tuple[str, str]]) -> tuple[object, ...]:
    """An edge as it is compared; the kinds of deciding on a value or on rows are not told apart.

    What `*` passes on is without the columns that the target has of its own, in any notation.
    """
    kind = edge.kind if edge.is_direct else "deciding"
    without = edge.without - {column for target, column in columns if target == edge.target}
    return edge.source, edge.from_column, kind, edge.masked, without


def _described_actual(edge: CodeEdge, columns: Iterable[tuple[str, str]]) -> tuple[object, ...]:
    source, name, is_direct = _part(edge)
    own = {column for target, column in columns if target == ".".join(edge.to_table)}
    kind = edge.subtype.lower() if is_direct else "deciding"
    return source, name, kind, edge.masked_by.lower(), frozenset(edge.without) - own


def _has_gap(code: TaskCode, target: str, column: str) -> bool:
    return any(
        (not gap.to_table or ".".join(gap.to_table) == target)
        and (gap.column in ("", "*", column) or column == ROWS)
        for gap in code.gaps
    )


def _gap_faults(block: Block, code: TaskCode) -> Iterator[str]:
    for target, column in block.gaps:
        if not _has_gap(code, target, column):
            yield f"no gap for {target}.{column}"
    for gap in code.gaps:
        if gap.place.line not in block.gap_lines:
            yield f"line {gap.place.line}: {gap.reason}"


def _names(parts: Iterable[tuple[object, ...]]) -> str:
    return ", ".join(sorted(".".join(str(value) for value in part if value) for part in parts))


def count_verdicts(scores: Iterable[Score]) -> Counter[Verdict]:
    """The output columns of scripts by verdict, without the choices of rows."""
    return Counter(
        column.verdict for score in scores for column in score.columns if not column.is_rows
    )
