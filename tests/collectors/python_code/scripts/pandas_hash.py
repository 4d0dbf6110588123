# lineage
# dw.customers_hashed.customer_hash <- dbo.customers.email: transformation masked hash
# dw.customers_hashed = dbo.customers: country, segment
# dw.customers_hashed.last_name <- dbo.customers.last_name: transformation
import hashlib

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")


def sha(value):
    return hashlib.sha256(value.encode("utf-8")).hexdigest()


df = pd.read_sql("SELECT email, country, segment, last_name FROM dbo.customers", engine)
df["customer_hash"] = df["email"].apply(sha)
df["last_name"] = df["last_name"].str[:2] + "***"
df = df.drop(columns=["email"])
df.to_sql("customers_hashed", engine, schema="dw", if_exists="replace", index=False)
