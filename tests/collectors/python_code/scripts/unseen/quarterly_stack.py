# lineage
# mart.quarterly = dbo.payments: method
# mart.quarterly.quarter <- dbo.payments.paid_at: transformation
# mart.quarterly.amount <- dbo.payments.amount: aggregation
# mart.quarterly.* <- dbo.payments.(method, paid_at): group by
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://erp")
pay = pd.read_sql("SELECT method, amount, paid_at FROM dbo.payments", engine)
pay["quarter"] = pd.to_datetime(pay["paid_at"]).dt.to_period("Q").astype(str)
pay = pay.set_index(["method", "quarter"])["amount"].groupby(level=["method", "quarter"]).sum()
pay.reset_index().to_sql("quarterly", engine, schema="mart", if_exists="replace", index=False)
