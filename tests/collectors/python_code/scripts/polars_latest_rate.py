# lineage
# out/priced.parquet = dbo.orders: order_id, customer_id, ordered_at
# out/priced.parquet = dbo.prices: net, valid_from
# out/priced.parquet.* <- dbo.orders.(ordered_at, product_id), dbo.prices.(valid_from, product_id): join
# out/priced.parquet.* <- dbo.orders.ordered_at, dbo.prices.valid_from: sort
# out/priced.parquet.* <- dbo.orders.customer_id, dbo.customers.customer_id: join
# out/monthly.csv.ordered_at <- dbo.orders.ordered_at: transformation
# out/monthly.csv.net <- dbo.prices.net: aggregation
# out/monthly.csv.orders <- nothing
# out/monthly.csv.* <- dbo.orders.(ordered_at, product_id), dbo.prices.(valid_from, product_id): join
# out/monthly.csv.* <- dbo.orders.ordered_at, dbo.prices.valid_from: sort
# out/monthly.csv.* <- dbo.orders.customer_id, dbo.customers.customer_id: join
# out/monthly.csv.* <- dbo.orders.ordered_at: group by
import os

import polars as pl
import pyodbc

os.makedirs("out", exist_ok=True)
conn = pyodbc.connect("DSN=shop")
orders = pl.read_database("SELECT order_id, customer_id, product_id, ordered_at FROM dbo.orders", conn)
prices = pl.read_database("SELECT product_id, net, valid_from FROM dbo.prices", conn)
customers = pl.read_database("SELECT customer_id FROM dbo.customers", conn)

priced = (
    orders.sort("ordered_at")
    .join_asof(prices.sort("valid_from"), left_on="ordered_at", right_on="valid_from", by="product_id")
    .join(customers, on="customer_id", how="semi")
    .drop("product_id")
)
priced.write_parquet("out/priced.parquet")
priced.group_by_dynamic("ordered_at", every="1mo").agg(pl.col("net").sum(), orders=pl.len()).write_csv("out/monthly.csv")
