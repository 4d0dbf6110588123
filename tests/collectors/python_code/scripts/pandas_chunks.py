# lineage
# dw.order_copy = dbo.orders: order_id, status
# dw.order_copy.price_eur <- dbo.orders.unit_price: transformation
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
first = True
for chunk in pd.read_sql("SELECT order_id, status, unit_price FROM dbo.orders", engine, chunksize=7):
    chunk["price_eur"] = chunk["unit_price"].astype(float) * 0.92
    chunk = chunk.drop("unit_price", axis="columns")
    chunk.to_sql("order_copy", engine, schema="dw", if_exists="replace" if first else "append", index=False)
    first = False
