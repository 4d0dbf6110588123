# lineage
# dw.loud_customers.* <- dbo.customers.*: identity
# dw.loud_customers.first_name <- dbo.customers.first_name: transformation
# dw.loud_customers.last_name <- dbo.customers.last_name: transformation
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
people = pd.read_sql_query("SELECT * FROM dbo.customers", engine)
people.first_name = people.first_name.str.upper()
people.last_name = people.last_name.str.upper()
people.to_sql("loud_customers", engine, schema="dw", if_exists="replace", index=False)
