# lineage
# dw.customer = dbo.customers: customer_id as id, email as mail, country as land
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://@warehouse")
df = pd.read_sql("SELECT customer_id, email, country FROM dbo.customers", engine)
df = df.rename(columns={"customer_id": "id", "email": "mail", "country": "land"})
df.to_sql("customer", engine, schema="dw", if_exists="append", index=False)
