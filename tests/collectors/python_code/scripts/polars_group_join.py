# lineage
# out/supplier_totals.csv = dbo.suppliers: name
# out/supplier_totals.csv.products <- nothing
# out/supplier_totals.csv.mean_price <- dbo.products.price: aggregation
# out/supplier_totals.csv.dearest <- dbo.products.price: aggregation
# out/supplier_totals.csv.* <- dbo.products.supplier_id, dbo.suppliers.supplier_id: join
# out/supplier_totals.csv.* <- dbo.suppliers.name: group by
# out/supplier_totals.csv.* <- dbo.suppliers.name: sort
import os

import polars as pl
import pyodbc

os.makedirs("out", exist_ok=True)
conn = pyodbc.connect("DSN=shop")
products = pl.read_database(query="SELECT supplier_id, price FROM dbo.products", connection=conn)
suppliers = pl.read_database(query="SELECT supplier_id, name FROM dbo.suppliers", connection=conn)
totals = (
    products.join(suppliers, on="supplier_id", how="inner")
    .group_by("name")
    .agg(pl.len().alias("products"), pl.col("price").mean().alias("mean_price"), dearest=pl.max("price"))
    .sort("name")
)
totals.write_csv("out/supplier_totals.csv")
