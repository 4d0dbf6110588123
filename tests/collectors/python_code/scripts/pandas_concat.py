# lineage
# dw.people.name <- dbo.employees.name, crm.leads.full_name: identity
# dw.people.contact <- dbo.employees.iban, crm.leads.mail: identity
# dw.people.kind <- nothing
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://dwh")

a = pd.read_sql("SELECT name, iban AS contact FROM dbo.employees", engine).assign(kind="employee")
b = pd.read_sql("SELECT full_name, mail FROM crm.leads", engine)
b.columns = ["name", "contact"]
b["kind"] = "lead"

people = pd.concat([a, b], ignore_index=True)
people.to_sql("people", engine, schema="dw", if_exists="replace", index=False)
