# lineage
# mart.sides = dbo.departments: department as left_department, budget as left_budget
# mart.sides = dbo.departments: department as department_r, budget as budget_r
# mart.sides.* <- dbo.departments.cost_centre: join
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://hr")
d = pd.read_sql("SELECT department, cost_centre, budget FROM dbo.departments", engine)
left = d.add_prefix("left_")
right = d.add_suffix("_r")
m = left.merge(right, left_on="left_cost_centre", right_on="cost_centre_r")
m = m.drop(columns=["left_cost_centre", "cost_centre_r"])
m.to_sql("sides", engine, schema="mart", if_exists="replace", index=False)
