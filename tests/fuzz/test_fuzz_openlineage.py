"""A short slice of the fuzzing of OpenLineage events, the same in every run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.fuzz_openlineage import fuzz


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [80, pytest.param(1_000, marks=pytest.mark.exhaustive)])
def test_damaged_events_end_as_records_and_counted_rejects(tmp_path: Path, rounds: int) -> None:
    counts = fuzz(rounds, 0, tmp_path)
    assert counts["accesses"] > 2 * rounds
    assert counts["rejects"] > rounds
