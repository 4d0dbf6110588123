# lineage
# dw.fact_lines = dbo.orders: order_id
# dw.fact_lines = dbo.suppliers: city
# dw.fact_lines.city <- dbo.orders.product_id, dbo.products.(product_id, supplier_id), dbo.suppliers.supplier_id: conditional
# dw.fact_lines.price <- dbo.orders.unit_price: transformation
# dw.fact_lines.price <~ dbo.orders.unit_price: conditional
import pandas as pd
import pyodbc
from sqlalchemy import create_engine

conn = pyodbc.connect("DSN=shop")
supplier_map = {r[0]: r[1] for r in conn.execute("SELECT product_id, supplier_id FROM dbo.products").fetchall()}
city_map = dict(conn.execute("SELECT supplier_id, city FROM dbo.suppliers").fetchall())
orders = pd.read_sql("SELECT order_id, product_id, unit_price FROM dbo.orders", conn)
records = []
for _, row in orders.iterrows():
    supplier = supplier_map.get(row["product_id"])
    records.append(
        {
            "order_id": row["order_id"],
            "city": city_map.get(supplier),
            "price": round(row["unit_price"], 1) if pd.notna(row["unit_price"]) else None,
        }
    )
frame = pd.DataFrame(records)
frame.to_sql("fact_lines", create_engine("mssql+pyodbc://dwh"), schema="dw", if_exists="replace", index=False)
