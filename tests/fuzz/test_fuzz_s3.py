"""A short slice of the fuzzing of a store in a bucket."""

from __future__ import annotations

import pytest

from tests.fuzz.fuzz_s3 import fuzz


@pytest.mark.slow
def test_machines_that_are_killed_lose_and_double_nothing() -> None:
    counts = fuzz(1, 0)
    assert counts["entries"] == 12
