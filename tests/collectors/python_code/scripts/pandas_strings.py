# lineage
# dw.contacts.email <- dbo.customers.email: transformation
# dw.contacts.full_name <- dbo.customers.(first_name, last_name): transformation
# dw.contacts.initial <- dbo.customers.first_name: transformation
# dw.contacts.country <- dbo.customers.country: transformation
# dw.contacts.customer_key <- dbo.customers.customer_id: transformation
# dw.contacts.* <- dbo.customers.email: filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
c = pd.read_sql("SELECT customer_id, first_name, last_name, email, country FROM dbo.customers", engine)
c["email"] = c["email"].str.strip().str.lower()
c = c[c["email"].str.contains("@")]
c["full_name"] = c["first_name"] + " " + c["last_name"].str.upper()
c["initial"] = c["first_name"].str[0]
c["country"] = c["country"].replace({"DE": "Germany", "FR": "France"}).astype(str)
c["customer_key"] = "C-" + c["customer_id"].astype(str).str.zfill(8)
columns = ["customer_key", "full_name", "initial", "email", "country"]
c[columns].to_sql("contacts", engine, schema="dw", if_exists="replace", index=False)
