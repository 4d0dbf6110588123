# lineage
# dw.credit = dbo.customers: customer_id
# dw.credit.class <- dbo.customers.credit_limit: transformation
# dw.credit.capped <- dbo.customers.credit_limit: transformation
# dw.credit.rank <- dbo.customers.credit_limit: window
# dw.credit.log_limit <- dbo.customers.credit_limit: transformation
import numpy as np
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
df = pd.read_sql("SELECT customer_id, credit_limit FROM dbo.customers", engine)
df["class"] = pd.cut(df["credit_limit"], bins=[0, 100, 1000, 100000], labels=["c", "b", "a"]).astype(str)
df["capped"] = df["credit_limit"].clip(upper=500)
df["rank"] = df["credit_limit"].rank(method="first")
df["log_limit"] = np.log1p(df["credit_limit"])
df.drop("credit_limit", axis=1).to_sql("credit", engine, schema="dw", if_exists="replace", index=False)
