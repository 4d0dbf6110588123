"""A short slice of the fuzzing of Spark event logs, the same in every run."""

from __future__ import annotations

import pytest

from tests.fuzz.fuzz_spark import fuzz


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [80, pytest.param(1_000, marks=pytest.mark.exhaustive)])
def test_damaged_logs_end_as_rows_and_counted_rejects(rounds: int) -> None:
    counts = fuzz(rounds, 0)
    assert counts["accesses"] > 5 * rounds
    assert counts["rejects"] > 5 * rounds
