# lineage
# dw.open_amounts = dbo.invoices: invoice_id, amount as amount_x
# dw.open_amounts = dbo.payments: amount as amount_y
# dw.open_amounts.open <- dbo.invoices.amount, dbo.payments.amount: transformation
# dw.open_amounts.* <- dbo.invoices.invoice_id, dbo.payments.invoice_id: join
import pandas as pd
import pyodbc
from sqlalchemy import create_engine

cnxn = pyodbc.connect("DSN=erp")
invoices = pd.read_sql("SELECT invoice_id, amount FROM dbo.invoices", cnxn)
payments = pd.read_sql("SELECT invoice_id, amount FROM dbo.payments", cnxn)

both = invoices.merge(payments, on="invoice_id")
both["open"] = both["amount_x"] - both["amount_y"]

both.to_sql("open_amounts", create_engine("mssql+pyodbc://dwh"), schema="dw", if_exists="append", index=False)
