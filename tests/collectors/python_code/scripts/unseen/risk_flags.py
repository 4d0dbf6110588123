# lineage
# dw.risk_flags = dbo.customers: customer_id
# dw.risk_flags.flag ? a model decides
# dw.risk_flags.flag <~ dbo.customers.(customer_id, credit_limit, is_active): transformation
# dw.risk_flags.limit_k <- dbo.customers.credit_limit: transformation
# runs not: the library is not there
import joblib
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
df = pd.read_sql("SELECT customer_id, credit_limit, is_active FROM dbo.customers", engine)
model = joblib.load("models/risk.pkl")  # gap
df["flag"] = model.predict(df[["credit_limit", "is_active"]])  # gap
df["limit_k"] = df["credit_limit"] / 1000
df[["customer_id", "flag", "limit_k"]].to_sql("risk_flags", engine, schema="dw", if_exists="append", index=False)
