"""A round of the fuzzing of a store in a bucket, which takes half a minute."""

from __future__ import annotations

import pytest

from tests.fuzz.fuzz_s3 import fuzz


@pytest.mark.slow
@pytest.mark.exhaustive
def test_machines_that_are_killed_lose_and_double_nothing() -> None:
    assert fuzz(1, 0)["entries"] == 12
