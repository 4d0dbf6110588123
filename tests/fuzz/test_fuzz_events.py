"""A short slice of the fuzzing of captured events, the same in every run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.fuzz_events import fuzz


@pytest.mark.slow
def test_damaged_logs_end_as_events_and_counted_damage(tmp_path: Path) -> None:
    counts = fuzz(1_000, 0, tmp_path)
    assert counts["events"] > 5_000
    assert counts["segments"] > 3_000
    assert counts["damages"] > 1_000
