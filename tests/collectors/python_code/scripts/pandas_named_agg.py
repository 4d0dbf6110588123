# lineage
# mart.product_stats = dbo.orders: product_id, status
# mart.product_stats.orders <- dbo.orders.order_id: aggregation (unseen: ids stay distinct)
# mart.product_stats.total <- dbo.orders.quantity: aggregation
# mart.product_stats.highest <- dbo.orders.unit_price: aggregation
# mart.product_stats.mean_price <- dbo.orders.unit_price: aggregation
# mart.product_stats.* <- dbo.orders.(product_id, status): group by
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
orders = pd.read_sql_table("orders", engine, schema="dbo")
stats = orders.groupby(["product_id", "status"], as_index=False).agg(
    orders=("order_id", "nunique"),
    total=("quantity", "sum"),
    highest=pd.NamedAgg(column="unit_price", aggfunc="max"),
    mean_price=("unit_price", "mean"),
)
stats.to_sql("product_stats", engine, schema="mart", if_exists="replace", index=False)
