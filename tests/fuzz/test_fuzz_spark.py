"""A short slice of the fuzzing of Spark event logs, the same in every run."""

from __future__ import annotations

import pytest

from tests.fuzz.fuzz_spark import fuzz


@pytest.mark.slow
def test_damaged_logs_end_as_rows_and_counted_rejects() -> None:
    counts = fuzz(1_000, 0)
    assert counts["accesses"] > 5_000
    assert counts["rejects"] > 5_000
