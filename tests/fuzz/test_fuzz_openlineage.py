"""A short slice of the fuzzing of OpenLineage events, the same in every run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.fuzz_openlineage import fuzz


@pytest.mark.slow
def test_damaged_events_end_as_records_and_counted_rejects(tmp_path: Path) -> None:
    counts = fuzz(1_000, 0, tmp_path)
    assert counts["accesses"] > 2_000
    assert counts["rejects"] > 1_000
