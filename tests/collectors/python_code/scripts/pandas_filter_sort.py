# lineage
# dw.big_orders = dbo.orders: order_id, country, unit_price
# dw.big_orders.* <- dbo.orders.(status, quantity): filter
# dw.big_orders.* <- dbo.orders.unit_price: sort
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql("select * from dbo.orders", engine)
df = df[(df["status"] != "cancelled") & (df["quantity"] > 2)]
df = df.sort_values("unit_price", ascending=False).head(5)
df[["order_id", "country", "unit_price"]].to_sql(
    "big_orders", con=engine, schema="dw", index=False, if_exists="append"
)
