# lineage
# out/products.parquet = dbo.products: product_id
# out/products.parquet.price_eur <- dbo.products.price: transformation
# out/products.parquet.cost_eur <- dbo.products.cost: transformation
# out/products.parquet.weight <- dbo.products.weight_g: transformation
# out/products.parquet.worth <- dbo.products.(price, cost): transformation
# out/products.parquet.dearest <- dbo.products.price: aggregation
# out/products.parquet.dearest <- dbo.products.category: window
# out/products.parquet.* <- dbo.products.is_sold: filter
# out/suppliers.csv = dbo.products: supplier_id
# out/suppliers.csv.price_mean <- dbo.products.price: aggregation
# out/suppliers.csv.cost_mean <- dbo.products.cost: aggregation
# out/suppliers.csv.last_sku <- dbo.products.sku: aggregation
# out/suppliers.csv.last_sku <- dbo.products.product_id: conditional
# out/suppliers.csv.* <- dbo.products.supplier_id: group by
# out/suppliers.csv.* <- dbo.products.supplier_id: sort
import os

import polars as pl
import polars.selectors as cs
import pyodbc

os.makedirs("out", exist_ok=True)
query = "SELECT product_id, sku, category, supplier_id, price, cost, weight_g, is_sold FROM dbo.products"
products = pl.read_database(query, pyodbc.connect("DSN=shop"))


def margin(row: dict) -> float:
    return row["price"] - row["cost"]


(
    products.filter(is_sold=1)
    .with_columns(
        cs.by_name("price", "cost").round(1).name.suffix("_eur"),
        pl.col("weight_g").cast(pl.Float64) / 1000,
        worth=pl.struct("price", "cost", "sku").map_elements(margin, return_dtype=pl.Float64),
        dearest=pl.col("price").max().over("category"),
    )
    .rename({"weight_g": "weight"})
    .select("product_id", cs.ends_with("_eur"), ~cs.starts_with("p", "c", "s", "i"))
    .write_parquet("out/products.parquet")
)
(
    products.group_by("supplier_id")
    .agg(
        pl.col("price", "cost").mean().name.suffix("_mean"),
        pl.col("sku").sort_by("product_id").last().alias("last_sku"),
    )
    .sort("supplier_id")
    .write_csv("out/suppliers.csv")
)
