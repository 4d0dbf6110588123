# lineage
# mart.best_products = dbo.products: category, name, price
# mart.best_products.place <- dbo.products.(category, price): window
# mart.best_products.* <- dbo.products.(category, price): filter
# mart.best_products.* <~ dbo.products.(category, price): sort
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
products = pd.read_sql("SELECT category, name, price FROM dbo.products", engine)
products["place"] = products.groupby("category")["price"].rank(method="first", ascending=False)
best = products[products["place"] <= 2].sort_values(["category", "place"])
best.to_sql("best_products", engine, schema="mart", if_exists="replace", index=False)
