# lineage
# dw.team = dbo.employees: employee_id, name, manager_id
# dw.team = dbo.employees: name as manager
# dw.team.* <- dbo.employees.(manager_id, employee_id): join
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://hr")
emp = pd.read_sql("SELECT employee_id, name, manager_id FROM dbo.employees", engine)
mgr = emp[["employee_id", "name"]].rename(columns={"employee_id": "boss_id", "name": "manager"})
team = emp.merge(mgr, how="inner", left_on="manager_id", right_on="boss_id")
del team["boss_id"]
team.to_sql("team", engine, schema="dw", index=False, if_exists="append")
