"""Text that names what is hidden."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.audience.words import hidden_words
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each

CUSTOMERS, PAY, SHOPS = (
    DatasetId("spark", name) for name in ("raw.customers", "hr.pay", "raw.shops")
)
WORDS = hidden_words(
    {CUSTOMERS: {"email", "country", "e-mail address"}, PAY: {"id", "amount"}},
    {PAY},
    # Other tables have a country and an id.
    {"country", "id", "raw.shops", "raw", "shops", "email_count"},
)


@for_each(
    "text, near, expected",
    [
        ("select email from raw.customers", (), True),
        ("select EMAIL", (), True),
        ("select email_count", (), False),
        ("join hr.pay", (), True),
        ("payments", (), False),
        # A name that is visible elsewhere is hidden where it is about that table.
        ("select country", (), False),
        ("select country", (CUSTOMERS,), True),
        ("select country", (SHOPS,), False),
        ("the `e-mail address` of all", (), True),
        ("the address of an e-mail", (), False),
        ("", (CUSTOMERS, PAY), False),
    ],
)
def test_text_that_names_it(text: str, near: tuple[DatasetId, ...], *, expected: bool) -> None:
    assert WORDS.mentions(near)(text) is expected


@for_each(
    "name, near, expected",
    [
        ("not_null_customers_email", (), True),
        ("test.shop.not_null_customers_email.5c9bf9911d", (), True),
        ("not_null_shops_country", (SHOPS,), False),
        ("not_null_customers_country", (CUSTOMERS,), True),
        ("emailing", (), False),
        ("EmailHash", (), True),
        ("customer_EMAIL", (), True),
        # Something visible has this name.
        ("email_count", (), False),
        ("paying_amounts", (), True),
    ],
)
def test_names_that_are_put_together(
    name: str, near: tuple[DatasetId, ...], *, expected: bool
) -> None:
    assert WORDS.mentions(near)(name) is expected


@for_each(
    "text",
    [
        *("birth_date", "BIRTH_DATE", "birthDate", "BirthDate", "birthdate", "[Birth_Date]"),
        *('"birth_date"', "`birth_date`", "birth%5Fdate", "birth\\_date", "birth&#95;date"),
        *("not_null_people_birth_date_2", "birthdates", "peopleBirthDateKey", "p.birth_date::text"),
        *("https://wiki/people#birth_date", "/logs/birth_date.json", "left(birth_date,4)"),
        "\uff42irth_date",
        *("birth-date", "https://wiki/Birth-Date/", "birth\u2011date", "load-birth-date-daily"),
        *("birth\u200b_date", "birth\u00ad_date", "birth&shy;_date", "birth<wbr>_<b>date</b>"),
        *("https://login/?to=%2Fwiki%3Fc%3Dbirth%255Fdate", "birth&amp;#95;date"),
    ],
)
def test_every_spelling_of_a_name(text: str) -> None:
    people = DatasetId("spark", "hr.people")
    words = hidden_words({people: {"birth_date"}}, (), ())
    assert words.mentions()(text)


@pytest.mark.parametrize(
    "text", ["the date of birth", "birth date", "birth - date", "birth_dat", "date-birth", ""]
)
def test_words_that_are_not_the_name(text: str) -> None:
    people = DatasetId("spark", "hr.people")
    assert not hidden_words({people: {"birth_date"}}, (), ()).mentions()(text)


@pytest.mark.parametrize(
    "text", ["Straße %", "[STRASSE %]", "x.Straße_%", "Stra%C3%9Fe%20%25", "strasse"]
)
def test_names_beyond_ascii(text: str) -> None:
    people = DatasetId("spark", "hr.people")
    assert hidden_words({people: {"straße %"}}, (), ()).mentions()(text)


def test_folders_and_numbers_are_words_like_any_other() -> None:
    file = DatasetId("s3://lake", "data/2026/salaries.csv")
    mentions = hidden_words({file: {"1"}}, {file}, ()).mentions()
    assert mentions("see salaries.csv")
    assert not mentions("data of 2026, 1 file")
