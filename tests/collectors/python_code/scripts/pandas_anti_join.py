# lineage
# dw.unsold = dbo.products: product_id, name
# dw.unsold.* <- dbo.products.product_id, dbo.orders.product_id: filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
products = pd.read_sql("SELECT product_id, name FROM dbo.products", engine)
sold = pd.read_sql("SELECT DISTINCT product_id FROM dbo.orders", engine)["product_id"]
unsold = products[~products["product_id"].isin(sold)].copy()
unsold.to_sql("unsold", engine, schema="dw", if_exists="replace", index=False)
