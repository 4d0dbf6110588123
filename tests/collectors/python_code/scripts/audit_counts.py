# lineage
# dw.row_counts.table_name <- nothing
# dw.row_counts.n <- dbo.orders.status: conditional
# dw.row_counts.big <- dbo.orders.(status, quantity): conditional
# dw.open_orders = dbo.orders: order_id, quantity
# dw.open_orders.* <- dbo.orders.(status, product_id): filter
# dw.open_orders.* <- dbo.products.(is_sold, product_id): filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
orders = pd.read_sql(
    "SELECT order_id, product_id, quantity FROM dbo.orders WHERE status = 'paid'", engine
)
sold = pd.read_sql("SELECT product_id FROM dbo.products WHERE is_sold = 1", engine)
counts = pd.DataFrame({"table_name": ["orders"]})
counts["n"] = len(orders)
counts["big"] = len(orders[orders["quantity"] > 6])
counts.to_sql("row_counts", engine, schema="dw", index=False)
orders = orders[orders["product_id"].isin(sold["product_id"])]
orders[["order_id", "quantity"]].to_sql("open_orders", engine, schema="dw", index=False)
