# lineage
# mart.running = dbo.payments: payment_id, invoice_id
# mart.running.running <- dbo.payments.amount: aggregation
# mart.running.running <- dbo.payments.invoice_id: window
# mart.running.previous <- dbo.payments.amount: transformation
# mart.running.previous <- dbo.payments.invoice_id: window
# mart.running.share <- dbo.payments.amount: aggregation
# mart.running.share <~ dbo.payments.amount: transformation
# mart.running.share <- dbo.payments.invoice_id: window
# mart.running.number <- dbo.payments.invoice_id: window
# mart.running.running <~ dbo.payments.paid_at: window
# mart.running.previous <~ dbo.payments.paid_at: window
# mart.running.number <~ dbo.payments.paid_at: window
# mart.running.* <- dbo.payments.paid_at: sort
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://erp")
p = pd.read_sql("SELECT payment_id, invoice_id, amount, paid_at FROM dbo.payments", engine)
p = p.sort_values(by=["paid_at"])
g = p.groupby("invoice_id")
p["running"] = g["amount"].cumsum()
p["previous"] = g["amount"].shift(1)
p["share"] = p["amount"] / g["amount"].transform("sum")
p["number"] = g.cumcount() + 1
p = p.drop(columns=["amount", "paid_at"])
p.to_sql("running", engine, schema="mart", if_exists="replace", index=False)
