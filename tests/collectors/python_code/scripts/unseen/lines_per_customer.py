# lineage
# mart.lines_per_customer = dbo.orders: customer_id
# mart.lines_per_customer.spent <- dbo.orders.(quantity, unit_price): aggregation
# mart.lines_per_customer.first_country <- dbo.orders.country: aggregation
# mart.lines_per_customer.* <- dbo.orders.customer_id: group by
# mart.lines_per_customer.* <- dbo.orders.status: filter
from collections import defaultdict
from dataclasses import dataclass, field

import pyodbc


@dataclass
class Totals:
    spent: float = 0.0
    countries: list = field(default_factory=list)


def main():
    connection = pyodbc.connect("DSN=shop")
    totals = defaultdict(Totals)
    query = "SELECT customer_id, country, quantity, unit_price FROM dbo.orders WHERE status <> ?"
    for customer, country, quantity, price in connection.cursor().execute(query, "cancelled"):
        total = totals[customer]
        total.spent += quantity * price
        total.countries.append(country)
    rows = [(customer, round(t.spent, 2), t.countries[0]) for customer, t in totals.items()]
    cursor = connection.cursor()
    cursor.executemany(
        "INSERT INTO mart.lines_per_customer (customer_id, spent, first_country) VALUES (?, ?, ?)", rows
    )
    connection.commit()


main()
