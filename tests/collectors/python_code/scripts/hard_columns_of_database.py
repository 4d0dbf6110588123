# lineage
# dw.wanted.* ? the list of columns is read from a table
# dw.wanted.* <~ dbo.customers.*: identity
# dw.wanted.* <~ cfg.export_columns.(column_name, table_name): conditional
# dw.wanted.* <~ cfg.export_columns.table_name: filter
# runs not: the configuration is in a table
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
wanted = pd.read_sql("SELECT column_name FROM cfg.export_columns WHERE table_name = 'customers'", engine)
names = wanted["column_name"].tolist()
df = pd.read_sql(f"SELECT {', '.join(names)} FROM dbo.customers", engine)  # gap
df.to_sql("wanted", engine, schema="dw", if_exists="replace", index=False)  # gap
