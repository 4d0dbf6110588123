# lineage
# mart.country_sales = dbo.orders: country
# mart.country_sales.amount <- dbo.orders.(quantity, unit_price): aggregation
# mart.country_sales.quantity <- dbo.orders.quantity: aggregation
# mart.country_sales.* <- dbo.orders.country: group by
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql("SELECT country, quantity, unit_price FROM dbo.orders", engine)
df["amount"] = df["quantity"] * df["unit_price"]
out = df.groupby("country")[["amount", "quantity"]].sum().reset_index()
out.to_sql("country_sales", engine, schema="mart", index=False, if_exists="replace")
