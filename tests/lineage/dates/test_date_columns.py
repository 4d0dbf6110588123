"""Names and types of columns -> whether they are date columns."""

from __future__ import annotations

from dbt_graft.lineage.dates.date_columns import DateColumns, DateRank, name_grain
from dbt_graft.lineage.dates.period import Grain
from tests.cases import for_each


@for_each(
    "column, grain",
    [
        ("ds", Grain.DAY),
        ("order_date", Grain.DAY),
        ("LoadDate", Grain.DAY),
        ("ORDER_DATE", Grain.DAY),
        ("date_key", Grain.DAY),
        ("month", Grain.MONTH),
        ("fiscal_period", Grain.MONTH),
        ("event_hour", Grain.HOUR),
        ("hr", Grain.HOUR),
        ("year", Grain.YEAR),
        ("candidate", None),
        ("update", None),
        ("orders", None),
        ("id", None),
        ("threshold", None),
    ],
)
def test_names_show_a_grain(column: str, grain: Grain | None) -> None:
    assert name_grain(column) is grain


@for_each(
    "column",
    ["birth_date", "BirthDate", "dob", "patient_dob", "date_of_birth", "hire_date", "born_on"],
)
def test_columns_about_people_are_none_by_name_or_type(column: str) -> None:
    assert DateColumns().rank(column, "date") is DateRank.NONE


def test_configuration_goes_before_names_and_these_before_types() -> None:
    rules = DateColumns(include=("*_on",), exclude=("load_date",))
    assert rules.rank("born_on") is DateRank.CONFIGURED
    assert rules.rank("load_date", "date") is DateRank.NONE
    assert rules.rank("ds", "varchar") is DateRank.NAME
    assert rules.rank("placed", "datetime2(7)") is DateRank.TYPE
    assert rules.rank("placed", "varchar(10)") is DateRank.NONE


def test_partition_columns_of_contracts_go_before_names_and_after_configuration() -> None:
    rules = DateColumns(
        include=("ds",), exclude=("hidden",), contracted=("cob", "birth_date", "hidden")
    )
    assert rules.rank("COB", "varchar") is DateRank.CONTRACT
    assert rules.rank("ds") > rules.rank("cob") > rules.rank("order_date")
    assert rules.rank("birth_date", "date") is DateRank.NONE
    assert rules.rank("hidden", "date") is DateRank.NONE
