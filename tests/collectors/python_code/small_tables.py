"""The tables that the scripts read, small, with values drawn anew for each seed and each column."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import datetime, timedelta

Row = tuple[object, ...]
Column = list[object]
ROWS = 14

# Each table with its columns and how their values are drawn; see `_draw`.
_TABLES = """
dbo.orders: order_id=key customer_id=below8 product_id=below10 quantity=small unit_price=price
  discount=rate status=new|paid|shipped|cancelled country=DE|ES|FR|IT|NL|PL
  ordered_at=time note=word
dbo.customers: customer_id=key first_name=word last_name=word email=mail country=DE|ES|FR|IT|NL|PL
  segment=Home|Office|Shop birth_date=time is_active=0|1 credit_limit=large
dbo.products: product_id=key sku=text name=word category=tool|toy|gift price=price cost=price
  weight_g=weight supplier_id=below6 is_sold=0|1
dbo.prices: product_id=key net=price currency=EUR|USD|CHF country=DE|ES|FR|IT|NL|PL valid_from=time
dbo.taxes: country=each:DE|ES|FR|IT|NL|PL rate=rate
dbo.rates: currency=each:EUR|USD|CHF rate=rate
dbo.suppliers: supplier_id=below6 name=word city=word phone=phone rating=below6
dbo.employees: employee_id=key name=word department=sales|it|store salary=large manager_id=below9
  hired_on=time iban=text
dbo.departments: department=each:sales|it|store|lab cost_centre=below3 budget=large
dbo.stock: warehouse=north|south|east|west|port|annex product_id=below10
  on_hand=small reserved=small counted_at=time
dbo.readings: sensor_id=below5 read_at=time temperature=degrees humidity=percent
dbo.invoices: invoice_id=key customer_id=below8 amount=large vat=price due_on=time paid_on=time?
dbo.payments: payment_id=key invoice_id=below9 amount=large paid_at=time method=card|cash|bank
crm.leads: lead_id=key full_name=names mail=mail phone=phone source=web|fair|call score=percent
  created_at=time owner_id=below4
crm.events: event_id=key lead_id=below9? kind=open|click|buy? happened_at=time payload=json
erp.shipments: shipment_id=key order_id=below14 carrier=post|van|bike shipped_at=time
  delivered_at=time weight_kg=price
"""


def _read_tables() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = {}
    for entry in _TABLES.replace("\n  ", " ").strip().splitlines():
        name, columns = entry.split(": ", 1)
        tables[name] = dict(column.split("=", 1) for column in columns.split())
    return tables


TABLES = _read_tables()


def draw_column(table: str, column: str, seed: int, version: int) -> Column:
    """Values of a column; another version has other values of the same type.

    A table has as many rows as its shortest column: those of `each:` are few.
    """
    how = TABLES[table][column]
    draw = random.Random(f"{table}.{column}.{seed}.{version}")  # noqa: S311
    is_nullable = how.endswith("?")
    how = how.removesuffix("?")
    if how == "key":
        return draw.sample(range(1, ROWS + 6), ROWS)
    if how.startswith("each:"):
        names = how.removeprefix("each:").split("|")
        return draw.sample(names, len(names))
    values = [_draw(how, draw) for _ in range(ROWS)]
    return [None if is_nullable and draw.random() < 0.3 else value for value in values]


def draw_file_column(column: str, seed: int, version: int) -> Column:
    """Values of a file's column, as text: numbers under names of numbers."""
    draw = random.Random(f"{column}.{seed}.{version}")  # noqa: S311
    is_number = any(
        word in column.lower() for word in ("price", "rate", "amount", "qty", "quantity")
    )
    how = "EUR|USD|CHF" if column.lower() == "currency" else "price" if is_number else "word"
    return ["" if draw.random() < 0.2 else str(_draw(how, draw)) for _ in range(ROWS)]


def _draw(how: str, draw: random.Random) -> object:
    if "|" in how:
        value = draw.choice(how.split("|"))
        return int(value) if value.isdigit() else value
    if how.startswith("below"):
        return draw.randint(1, int(how.removeprefix("below")))
    return _DRAWN[how](draw)


def _word(draw: random.Random) -> str:
    return "".join(draw.choices("abcdefghiklmnoprstu", k=draw.randint(4, 9))).capitalize()


def _mail(draw: random.Random) -> str:
    return f" {_word(draw)}@{draw.choice(['Example', 'Mail', 'Post'])}{draw.randint(1, 99)}.org"


def _time(draw: random.Random) -> datetime:
    return datetime(2025, 1, 1) + timedelta(days=draw.randint(0, 700), hours=draw.randint(0, 23))


def _page(draw: random.Random) -> str:
    return json.dumps({"page": _word(draw).lower(), "seconds": draw.randint(1, 300)})


_DRAWN: dict[str, Callable[[random.Random], object]] = {
    "word": _word,
    "names": lambda draw: f"{_word(draw)} {_word(draw)}",
    "text": lambda draw: f"{_word(draw)[:2].upper()}{draw.randint(1000, 9999)}",
    "mail": _mail,
    "phone": lambda draw: (
        f"+{draw.randint(30, 49)} {draw.randint(100, 999)} {draw.randint(1, 9999)}"
    ),
    "json": _page,
    "time": _time,
    "small": lambda draw: draw.randint(0, 12),
    "weight": lambda draw: draw.randint(50, 3000),
    "degrees": lambda draw: draw.randint(1, 44),
    "percent": lambda draw: draw.randint(1, 99),
    "price": lambda draw: round(draw.uniform(1, 99), 2),
    "large": lambda draw: round(draw.uniform(10, 1900), 2),
    "rate": lambda draw: round(draw.uniform(0.01, 0.4), 3),
}
