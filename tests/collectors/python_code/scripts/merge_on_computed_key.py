# lineage
# exists dw.dim_day(day_key, day_code)
# dw.invoice_days = dbo.invoices: invoice_id
# dw.invoice_days = dw.dim_day: day_key
# dw.invoice_days.* <- dbo.invoices.due_on, dw.dim_day.day_code: join
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://dwh")
invoices = pd.read_sql("SELECT invoice_id, due_on FROM dbo.invoices", engine)
days = pd.read_sql("SELECT day_key, day_code FROM dw.dim_day", engine)
invoices["due_on"] = pd.to_datetime(invoices["due_on"])
merged = pd.merge(
    invoices,
    days,
    how="left",
    left_on=invoices["due_on"].dt.strftime("%Y-%m-%d"),
    right_on="day_code",
).drop(columns=["day_code", "due_on"])
merged[["invoice_id", "day_key"]].to_sql("invoice_days", engine, schema="dw", if_exists="replace", index=False)
