"""Limits of following a script: steps, so that the result is the same everywhere, and time."""

from __future__ import annotations

import time

# A script of 300 lines takes some thousands.
STEPS = 300_000
SECONDS = 10.0
LARGEST_FILE = 1_000_000  # bytes
LONGEST_TEXT = 200_000  # characters; a longer one is unknown
DEEPEST_CALLS = 24
# Iterations of a loop over known items; more are followed as one of any item.
MOST_ITERATIONS = 60
# Values that a name may have by the branch that was taken; more are unknown.
MOST_VALUES = 6
MOST_COLUMNS = 2_000
MOST_ITEMS = 5_000


class BudgetError(Exception):
    """The script takes too long to follow; the message is the reason."""


class Budget:
    """The steps that may still be taken."""

    def __init__(self) -> None:
        self._left = STEPS
        self._checked = STEPS
        self._end = time.process_time() + SECONDS

    def spend(self, steps: int = 1) -> None:
        """Take a step.

        Raises:
            BudgetError: There are none left, or the time is up.
        """
        self._left -= steps
        if self._left <= 0:
            raise BudgetError(f"not followed to its end: it takes more than {STEPS:,} steps")
        if self._checked - self._left > 512:
            self._checked = self._left
            if time.process_time() > self._end:
                raise BudgetError(f"not followed to its end: it takes more than {SECONDS:g} s")
