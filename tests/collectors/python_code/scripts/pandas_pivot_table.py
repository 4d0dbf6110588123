# lineage
# mart.status_by_country = dbo.orders: country
# mart.status_by_country.new <- dbo.orders.quantity: aggregation
# mart.status_by_country.new <- dbo.orders.status: conditional
# mart.status_by_country.paid <- dbo.orders.quantity: aggregation
# mart.status_by_country.paid <- dbo.orders.status: conditional
# mart.status_by_country.* <- dbo.orders.country: group by
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql("SELECT country, status, quantity FROM dbo.orders", engine)
p = df.pivot_table(index="country", columns="status", values="quantity", aggfunc="sum", fill_value=0)
p = p.reindex(columns=["new", "paid"], fill_value=0).reset_index()
p.to_sql("status_by_country", engine, schema="mart", if_exists="replace", index=False)
