"""The guard of fuzzing fails where it should."""

from __future__ import annotations

import logging
import sys

import pytest

from tests.fuzz.guard import LITERAL, CaseError, guarded

_LOG = logging.getLogger("dbt_graft.lineage")


@pytest.mark.parametrize("way", ["standard error", "a log line"])
def test_a_value_that_is_shown_fails_the_case(way: str) -> None:
    def show() -> None:
        if way == "standard error":
            sys.stderr.write(f"x = {LITERAL}")
        else:
            _LOG.debug("x = %s", LITERAL)

    with pytest.raises(CaseError, match="a value of the log was logged"), guarded():
        show()


def test_a_traceback_is_logged_without_the_value() -> None:
    with guarded():
        try:
            raise ValueError(LITERAL)
        except ValueError:
            _LOG.debug("a reject", exc_info=True)


def test_a_case_that_does_not_end_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.guard.SECONDS", 1)

    def hang() -> None:
        while True:
            pass

    with pytest.raises(CaseError, match="it takes more than 1 s"), guarded():
        hang()
