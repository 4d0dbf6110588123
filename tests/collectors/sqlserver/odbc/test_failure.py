"""The message of an ODBC error, without secrets."""

from __future__ import annotations

from typing import Any

from dbt_graft.collectors.sqlserver.odbc.failure import odbc_failure, retry_pauses
from tests.cases import for_each


class OdbcError(Exception):
    """As pyodbc raises it."""


def failure(state: str, text: str, secrets: tuple[str, ...] = ()) -> Any:
    return odbc_failure(OdbcError(state, f"[{state}] {text}"), secrets)  # type: ignore[arg-type]


@for_each(
    "text, numbers",
    [
        ("[Microsoft][ODBC Driver 18 for SQL Server]gone (25717) (SQLFetch)", (25717,)),
        ("no database (4060) (SQLDriverConnect); [28000] no login (18456)", (4060, 18456)),
        ("ERROR: gone (25722);\nError while executing (1) (SQLExecDirectW)", (25722, 1)),
        ("in column f(3) of t(4) there is none (207) (SQLExecDirectW)", (207,)),
        ("timeout (0) (SQLDriverConnect)", ()),
        ("certificate (-1) (SQLDriverConnect)", ()),
        ("no number at all", ()),
    ],
)
def test_the_numbers_of_all_messages_are_read(text: str, numbers: tuple[int, ...]) -> None:
    assert failure("42000", text).numbers == numbers


@for_each(
    "state, number, transient",
    [
        ("08S01", 0, True),
        ("08001", 10060, True),
        ("HYT00", 0, True),
        ("HYT01", 0, True),
        ("40001", 1205, True),
        ("57P01", 0, True),
        ("HY000", 1205, True),
        ("42000", 40197, True),
        ("42000", 40501, True),
        ("42000", 40613, True),
        ("42000", 49918, True),
        ("42000", 49920, True),
        ("42000", 10928, True),
        ("42000", 10929, True),
        ("28000", 4060, True),
        ("28000", 18456, False),
        ("42000", 25717, False),
        ("42S02", 208, False),
        ("IM002", 0, False),
    ],
)
def test_only_what_may_pass_is_tried_again(state: str, number: int, transient: bool) -> None:
    assert failure(state, f"text ({number}) (SQLFetch)").transient is transient


@for_each(
    "text, message",
    [
        ("[Microsoft][SQL Server]Login failed for user 'anna'.", "Login failed for user '…'"),
        ("user 'O'Brien' can't", "user '…' can't"),
        ("Can't open lib 'D' for 'anna'", "Can't open lib '…' for '…'"),
        ("cut in user 'ann", "cut in user '…'"),
        ('role "anna" does not exist', "role '…' does not exist"),
        ("l'utilisateur « anna »", "l'utilisateur '…'"),
        ("Benutzer „anna“ und “anna”", "Benutzer '…' und '…'"),
        ("two\n lines", "two lines"),
        ("", "the driver gave no reason"),
    ],
)
def test_names_in_quotes_are_not_repeated(text: str, message: str) -> None:
    assert failure("28000", text).message == message


def test_secrets_are_not_repeated_and_words_that_hold_one_stay() -> None:
    message = failure("28000", "SA, sa and message of P(w", ("sa", "P(w", "")).message
    assert message == "…, … and message of …"


def test_a_long_message_is_cut() -> None:
    assert len(failure("42000", "x" * 10_000).message) < 600


def test_an_error_of_another_shape_is_still_reported() -> None:
    found = odbc_failure(OdbcError())  # type: ignore[arg-type]
    assert (found.state, found.numbers, found.transient) == ("", (), False)


def test_each_wait_is_longer_than_the_one_before_it_could_be() -> None:
    waits = list(retry_pauses())
    assert len(waits) == 4
    for step, wait in enumerate(waits):
        assert 2**step <= wait <= 2 ** (step + 1)
