"""A short slice of the fuzzing of captured events, the same in every run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.fuzz_events import fuzz


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [80, pytest.param(1_000, marks=pytest.mark.exhaustive)])
def test_damaged_logs_end_as_events_and_counted_damage(tmp_path: Path, rounds: int) -> None:
    counts = fuzz(rounds, 0, tmp_path)
    assert counts["events"] > 5 * rounds
    assert counts["segments"] > 3 * rounds
    assert counts["damages"] > rounds
