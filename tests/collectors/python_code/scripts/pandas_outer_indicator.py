# lineage
# dw.stock_check.product_id <- dbo.stock.product_id, dbo.products.product_id: transformation
# dw.stock_check = dbo.stock: on_hand
# dw.stock_check = dbo.products: sku
# dw.stock_check.found_in <- dbo.stock.product_id, dbo.products.product_id: transformation
# dw.stock_check.* <- dbo.stock.product_id, dbo.products.product_id: join
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
stock = pd.read_sql("SELECT product_id, on_hand FROM dbo.stock", engine)
products = pd.read_sql("SELECT product_id, sku FROM dbo.products", engine)
check = stock.merge(products, how="outer", on="product_id", indicator="found_in")
check["found_in"] = check["found_in"].astype(str)
check.to_sql("stock_check", engine, schema="dw", if_exists="replace", index=False)
