"""Scripts as people write them are read as a reader of them would: see `scripts/README.md`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from dbt_graft.collectors.python_code.task_code import task_code
from dbt_graft.lineage.building.bound_names import bind_names
from tests.collectors.python_code.blocks import SCRIPTS, list_scripts, read_block
from tests.collectors.python_code.score import (
    Score,
    Verdict,
    count_verdicts,
    score,
)

# Scripts that are not read exactly, and what is not.
_NOT_EXACT: dict[str, str] = {}
# Of the columns of scripts that nobody looked at while the reader was written.
_EXACT, _WRONG_EDGES = 0.9, 0.01


def _read(folder: Path) -> dict[str, Score]:
    def read_file(name: str) -> bytes | None:
        path = folder / name
        return path.read_bytes() if path.is_file() else None

    return {
        name: score(read_block(path), bind_names(task_code(name, read_file)))
        for path in list_scripts(folder)
        for name in [path.relative_to(folder).as_posix()]
    }


def test_scripts_are_read_as_their_heads_say(capsys: pytest.CaptureFixture[str]) -> None:
    scores = _read(SCRIPTS)
    with capsys.disabled():
        print()
        for name, read in scores.items():
            for line in _differences(read):
                print(f"{name}: {line}")
        print(_totals(scores.values()))
    assert len(scores) >= 60
    assert {name for name, read in scores.items() if not read.is_exact} == set(_NOT_EXACT)


def test_unseen_scripts_are_read_nearly_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    scores = _read(SCRIPTS / "unseen").values()
    verdicts = count_verdicts(scores)
    with capsys.disabled():
        # No more than totals, so that they stay a fair measure.
        print(f"\nunseen scripts: {_totals(scores)}")
    assert verdicts[Verdict.EXACT] >= _EXACT * verdicts.total()
    assert sum(read.wrong_edges for read in scores) <= _WRONG_EDGES * sum(
        read.edges for read in scores
    )


def _differences(read: Score) -> Iterator[str]:
    for column in read.columns:
        if column.verdict is not Verdict.EXACT:
            yield f"{column.target}.{column.column}: {column.verdict} {column.differs}"
    yield from (f"gap: {gap}" for gap in read.gaps)


def _totals(scores: Iterable[Score]) -> str:
    scores = list(scores)
    verdicts = count_verdicts(scores)
    exact = sum(read.is_exact for read in scores)
    wrong, edges = (
        sum(counts) for counts in zip(*((s.wrong_edges, s.edges) for s in scores), strict=True)
    )
    rows = [column for read in scores for column in read.columns if column.is_rows]
    exact_rows = sum(column.verdict is Verdict.EXACT for column in rows)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())
    return (
        f"{exact} of {len(scores)} scripts exact; {verdicts.total()} columns: {counts}; "
        f"rows of {exact_rows} of {len(rows)} targets exact; {wrong} of {edges} edges wrong"
    )
