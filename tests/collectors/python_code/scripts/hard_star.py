# lineage
# dw.products_all.* <- dbo.products.* without cost, name: identity
# dw.products_all = dbo.products: name as title
# dw.products_all.margin <- dbo.products.(price, cost): transformation
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql("SELECT * FROM dbo.products", engine)
df["margin"] = df["price"] - df["cost"]
df = df.rename(columns={"name": "title"}).drop(columns=["cost"])
df.to_sql("products_all", engine, schema="dw", if_exists="replace", index=False)
