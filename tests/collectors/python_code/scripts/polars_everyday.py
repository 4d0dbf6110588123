# lineage
# dw.product_margin = dbo.products: product_id, name as title
# dw.product_margin.margin <- dbo.products.(price, cost): transformation
# dw.product_margin.heavy <- dbo.products.weight_g: transformation
# dw.product_margin.* <- dbo.products.is_sold: filter
import polars as pl
import pyodbc
from sqlalchemy import create_engine

conn = pyodbc.connect("DSN=shop")
df = pl.read_database("SELECT product_id, name, price, cost, weight_g, is_sold FROM dbo.products", conn)
out = (
    df.filter(pl.col("is_sold") == 1)
    .with_columns(
        (pl.col("price") - pl.col("cost")).alias("margin"),
        heavy=pl.col("weight_g") > 1000,
    )
    .rename({"name": "title"})
    .select("product_id", "title", "margin", "heavy")
)
out.to_pandas().to_sql("product_margin", create_engine("mssql+pyodbc://dwh"), schema="dw", if_exists="append", index=False)
