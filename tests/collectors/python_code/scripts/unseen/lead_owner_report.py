# lineage
# dw.lead_owners = crm.leads: lead_id, full_name as lead
# dw.lead_owners = dbo.employees: name as owner
# dw.lead_owners.department <- dbo.employees.department: transformation
# dw.lead_owners.* <- crm.leads.owner_id, dbo.employees.employee_id: join
# dw.lead_owners.* <- crm.leads.source: filter
import pandas as pd
import pyodbc
from sqlalchemy import create_engine

cn = pyodbc.connect("Driver={SQL Server};Server=.;Database=crm;Trusted_Connection=yes;")
leads = pd.read_sql("SELECT lead_id, full_name AS lead, owner_id, source FROM crm.leads", cn)
staff = pd.read_sql("SELECT employee_id AS owner_id, name AS owner, department FROM dbo.employees", cn)

web = leads[leads.source.isin(["web", "call"])]
report = web.merge(staff, how="left", on="owner_id")
report["department"] = report["department"].fillna("nobody").str.title()
report = report[["lead_id", "lead", "owner", "department"]]

dwh = create_engine("mssql+pyodbc://dwh")
report.to_sql("lead_owners", dwh, schema="dw", index=False, if_exists="append", chunksize=500)
