# lineage
# export/price_list.csv = dbo.products: sku, name as article
# export/price_list.csv.gross <- dbo.products.price: transformation
# export/price_list.csv.* <- dbo.products.is_sold: filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql("SELECT sku, name, price FROM dbo.products WHERE is_sold = 1", engine)
df["gross"] = (df["price"] * 1.19).round(2)
df = df.rename(columns={"name": "article"})
df.to_csv("export/price_list.csv", index=False, columns=["sku", "article", "gross"])
