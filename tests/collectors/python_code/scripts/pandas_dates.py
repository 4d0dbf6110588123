# lineage
# dw.order_dates = dbo.orders: order_id
# dw.order_dates.year <- dbo.orders.ordered_at: transformation
# dw.order_dates.month <- dbo.orders.ordered_at: transformation
# dw.order_dates.due <- dbo.orders.ordered_at: transformation
# dw.order_dates.age_days <- dbo.orders.ordered_at: transformation
# dw.order_dates.loaded_at <- nothing
from datetime import datetime, timedelta

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql("SELECT order_id, ordered_at FROM dbo.orders", engine, parse_dates=["ordered_at"])
df["ordered_at"] = pd.to_datetime(df["ordered_at"])
df["year"] = df["ordered_at"].dt.year
df["month"] = df.ordered_at.dt.strftime("%Y-%m")
df["due"] = df["ordered_at"] + timedelta(days=14)
df["age_days"] = (pd.Timestamp("2026-01-01") - df["ordered_at"]).dt.days
df["loaded_at"] = datetime.now()
df.drop(columns="ordered_at", inplace=True)
df.to_sql("order_dates", engine, schema="dw", if_exists="replace", index=False)
