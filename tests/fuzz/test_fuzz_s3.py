"""A round of the fuzzing of a store in a bucket: it takes half a minute, so only on demand."""

from __future__ import annotations

import os

import pytest

from tests.fuzz.fuzz_s3 import fuzz


@pytest.mark.slow
@pytest.mark.skipif("S3_ROUNDS" not in os.environ, reason="set S3_ROUNDS to the number of rounds")
def test_machines_that_are_killed_lose_and_double_nothing() -> None:
    rounds = int(os.environ["S3_ROUNDS"])
    assert fuzz(rounds, 0)["entries"] == 12 * rounds
