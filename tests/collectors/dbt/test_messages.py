"""A message shows the error, and none of the data that it repeats."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.collectors.dbt.messages import redact_message
from tests.cases import for_each

SQL = (
    """select o.id, o."email" from "dwh"."raw"."orders" o where o.name = 'Jane' and o.x = "Doe" """
)


@for_each(
    "message, shown",
    [
        (
            'Database Error in model stg (models/stg.sql)\n  relation "raw.orders" does not exist\n'
            '  LINE 12: from "dwh"."raw"."orders"\n    ^\n  compiled code at target/run/stg.sql',
            'Database Error: relation "raw.orders" does not exist',
        ),
        (
            'Database Error in model a (a.sql)\n  invalid input syntax for type integer: "Jane"',
            'Database Error: invalid input syntax for type integer: "?"',
        ),
        (
            "Key (email)=(jane@example.com) already exists.",
            "Key (email)=(?) already exists.",
        ),
        (
            "Database Error in model a (a.sql)\n  002003 (02000): SQL compilation error:\n"
            "  Object 'DWH.SECRET' does not exist or not authorized.",
            "Database Error: 002003 (02000): SQL compilation error: "
            "Object '?' does not exist or not authorized.",
        ),
        (
            "Runtime Error in model a (a.py)\n  ValueError: could not convert string to float: J D",
            "Runtime Error: ValueError: could not convert string to float: ?",
        ),
        (
            "[TABLE_OR_VIEW_NOT_FOUND] The table `raw`.`orders` cannot be found. SQLSTATE: 42P01",
            "[TABLE_OR_VIEW_NOT_FOUND] The table `raw`.`orders` cannot be found. SQLSTATE: 42P01",
        ),
        ("ORA-00942: table or view does not exist", "ORA-00942: table or view does not exist"),
        (
            "Conversion failed when converting the varchar value 'Jane Doe' to data type int.",
            "Conversion failed when converting the varchar value '?' to data type int.",
        ),
        ("could not connect to postgres://bob:pw@db password=pw", "could not connect to ?"),
        ("Failing row contains (1, Jane, 19.99).", "Failing row contains (?)."),
        ("", "failed"),
    ],
)
def test_names_and_words_of_databases_stay_and_values_go(message: str, shown: str) -> None:
    assert redact_message(message, SQL, "model.shop.stg") == shown


@given(st.text(alphabet="qyz@.'\"()[]:1234567890-_ ", min_size=1, max_size=60))
def test_a_word_that_nothing_names_is_never_shown(value: str) -> None:
    shown = redact_message(f"Database Error in model a (a.sql)\n  bad data {value}", SQL)
    assert not {"q", "y", "z", *"0123456789"} & set(shown.removeprefix("Database Error: bad data"))


def test_a_long_message_is_cut() -> None:
    assert len(redact_message("relation does not exist " * 200)) < 310
