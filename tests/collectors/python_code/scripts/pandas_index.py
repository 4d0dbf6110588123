# lineage
# dw.stock_totals = dbo.stock: product_id
# dw.stock_totals.on_hand <- dbo.stock.on_hand: aggregation
# dw.stock_totals.* <- dbo.stock.product_id: group by
# dw.prices_now = dbo.prices: product_id as id, net
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")

stock = pd.read_sql("SELECT product_id, on_hand FROM dbo.stock", engine)
stock.groupby("product_id").sum().to_sql("stock_totals", engine, schema="dw", if_exists="replace")

prices = pd.read_sql("SELECT product_id, net FROM dbo.prices", engine)
prices = prices.set_index("product_id")
prices.to_sql("prices_now", engine, schema="dw", if_exists="replace", index=True, index_label="id")
