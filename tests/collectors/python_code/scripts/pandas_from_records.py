# lineage
# dw.bank = dbo.employees: employee_id, name, iban as account
import pandas as pd
import pyodbc
from sqlalchemy import create_engine

conn = pyodbc.connect("DSN=hr")
cur = conn.cursor()
rows = cur.execute("SELECT employee_id, name, iban FROM dbo.employees").fetchall()
df = pd.DataFrame.from_records([tuple(r) for r in rows], columns=["employee_id", "name", "account"])
engine = create_engine("mssql+pyodbc://dwh")
with engine.begin() as connection:
    df.to_sql("bank", connection, schema="dw", if_exists="replace", index=False)
