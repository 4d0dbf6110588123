# lineage
# mart.segments = dbo.customers: segment
# mart.segments.customers <- dbo.customers.customer_id: aggregation (unseen: counts what is not null)
# mart.segments.credit_limit_mean <- dbo.customers.credit_limit: aggregation
# mart.segments.credit_limit_max <- dbo.customers.credit_limit: aggregation
# mart.segments.* <- dbo.customers.segment: group by
# mart.segments.* <- dbo.customers.is_active: filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
df = pd.read_sql("SELECT customer_id, segment, credit_limit FROM dbo.customers WHERE is_active = 1", engine)
g = df.groupby("segment").agg({"customer_id": "count", "credit_limit": ["mean", "max"]})
g.columns = ["customers", "credit_limit_mean", "credit_limit_max"]
g = g.reset_index()
g.to_sql("segments", engine, schema="mart", if_exists="replace", index=False)
