"""A day of a loader's statements: few shapes, ever new values, of real length.

400 to 2,000 characters each, with lists of IN, rows of VALUES and comments of other length and
content every time, as drivers and generated code send them; in T-SQL and in Spark SQL.
"""

from __future__ import annotations

import random
from collections.abc import Callable

SHAPES, STATEMENTS = 200, 20_000
_NAMES = (
    "order_id customer_id order_date amount_net amount_tax currency_code status_code"
    " shipping_address country_code warehouse_id created_at updated_at loaded_by batch_number"
    " discount_pct sales_channel"
)
COLUMNS = _NAMES.split()
_LIST = ", ".join(COLUMNS)
Value = Callable[[], int]


def _of(alias: str, columns: list[str] = COLUMNS) -> str:
    return ", ".join(f"{alias}.{column}" for column in columns)


def _assigned(columns: list[str]) -> str:
    return ", ".join(f"t.{column} = s.{column}" for column in columns)


def insert(n: int, value: Value) -> str:
    """INSERT … SELECT with joins, a list of values and comments."""
    values = ", ".join(str(value()) for _ in range(5 + value() % 55))
    return f"""/* loader run {value()} on etl-{value() % 9} */
INSERT INTO dw.dbo.fact_orders_{n} ({_LIST}, src_system)
SELECT {_of("o")}, N'it''s {value()}'
FROM crm.dbo.orders_{n} AS o
    INNER JOIN crm.dbo.customers AS c ON c.customer_id = o.customer_id -- since {value()}
    LEFT JOIN crm.dbo.countries AS ct ON ct.country_code = c.country_code
WHERE o.order_id IN ({values}) AND o.order_date >= '2026-{value() % 12 + 1:02}-01'"""


def merge(n: int, value: Value) -> str:
    """MERGE of a subquery."""
    return f"""MERGE dw.dbo.dim_customer_{n} AS t
USING (SELECT {_of("s")} FROM crm.dbo.customers_{n} AS s WHERE s.batch_number = {value()}) AS s
ON t.order_id = s.order_id AND t.country_code = N'{value() % 99}'
WHEN MATCHED AND t.amount_net <> s.amount_net THEN UPDATE SET {_assigned(COLUMNS)}
WHEN NOT MATCHED BY TARGET THEN INSERT ({_LIST}) VALUES ({_of("s")});"""


def update(n: int, value: Value) -> str:
    """UPDATE from a grouped subquery."""
    grouped = ", ".join(f"MAX({column}) AS {column}" for column in COLUMNS)
    return f"""UPDATE t SET {_assigned(COLUMNS[2:])}, t.factor = {value()}.5 /* {value()} */
FROM dw.dbo.agg_{n} AS t JOIN (SELECT {grouped} FROM crm.dbo.src_{n}
    WHERE status_code IN ('{value()}', '{value()}') GROUP BY customer_id) AS s
ON s.customer_id = t.customer_id WHERE t.batch_number BETWEEN {value()} AND {value()}"""


def rows(n: int, value: Value) -> str:
    """INSERT of some rows."""
    some = ", ".join(
        f"({value()}, '2026-01-01', {value()}.25, NULL, 'EUR', N'name {value()}', 'str''eet')"
        for _ in range(5 + value() % 15)
    )
    return f"""INSERT INTO dw.dbo.stage_{n}
    (order_id, order_date, amount_net, amount_tax, currency_code, status_code, shipping_address)
VALUES {some}"""


def overwrite(n: int, value: Value) -> str:
    """INSERT OVERWRITE of a grouped subquery, of Spark."""
    grouped = ", ".join(f"MAX({column}) AS {column}" for column in COLUMNS)
    return f"""INSERT OVERWRITE TABLE dw.dbo.agg_{n}
PARTITION (day = '2026-{value() % 12 + 1:02}-01')
SELECT {_of("s")}, {value()}.5 AS factor /* {value()} */
FROM dw.dbo.customers AS t JOIN (SELECT {grouped} FROM crm.dbo.src_{n}
    WHERE status_code IN ('{value()}', "{value()}") GROUP BY customer_id) AS s
ON s.customer_id = t.customer_id WHERE t.batch_number BETWEEN {value()} AND {value()}"""


_TSQL, _SPARK = (insert, merge, update, rows), (insert, merge, overwrite, rows)


def statements(dialect: str = "tsql") -> list[str]:
    """The statements, the same in every run."""
    values = random.Random(7)
    kinds = _SPARK if dialect == "spark" else _TSQL
    texts = [
        kinds[at % len(kinds)](at % SHAPES, lambda: values.randrange(10**9))
        for at in range(STATEMENTS)
    ]
    return [text.replace("N'", "'") for text in texts] if dialect == "spark" else texts
