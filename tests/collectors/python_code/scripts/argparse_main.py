# lineage
# dw.country_orders = dbo.orders: order_id, country
# dw.country_orders.total <- dbo.orders.(quantity, unit_price): transformation
# dw.country_orders.* <- dbo.orders.(country, ordered_at): filter
import argparse
import sys

import pandas as pd
import pyodbc
from sqlalchemy import create_engine


def parse_args(argv):
    parser = argparse.ArgumentParser(description="Loads the orders of a country.")
    parser.add_argument("--country", default="DE")
    parser.add_argument("--since", default="2025-01-10")
    parser.add_argument("--table", default="country_orders")
    return parser.parse_args(argv)


def main(argv=None):
    args = parse_args(argv or [])
    conn = pyodbc.connect("DSN=shop")
    sql = "SELECT order_id, country, quantity, unit_price FROM dbo.orders WHERE country = ? AND ordered_at >= ?"
    df = pd.read_sql(sql, conn, params=[args.country, args.since])
    df["total"] = df.quantity * df.unit_price
    engine = create_engine("mssql+pyodbc://dwh")
    df[["order_id", "country", "total"]].to_sql(
        "country_orders", engine, schema="dw", if_exists="append", index=False
    )
    return 0


if __name__ == "__main__":
    main()
