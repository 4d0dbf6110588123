# lineage
# dw.paid_invoices = dbo.invoices: invoice_id, paid_on
# dw.paid_invoices.paid_key <- nothing
# dw.paid_invoices.* <- dbo.invoices.(invoice_id, paid_on): filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://erp")
df = pd.read_sql("SELECT DISTINCT invoice_id, paid_on FROM dbo.invoices", engine)
df.dropna(inplace=True)
df.insert(0, "paid_key", range(1, len(df) + 1))
df.to_sql("paid_invoices", engine, schema="dw", if_exists="replace", index=False)
