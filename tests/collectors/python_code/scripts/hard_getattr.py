# lineage
# dw.monthly_stat.* ? the function is known at run time only
# dw.monthly_stat.department <~ dbo.departments.department: identity
# dw.monthly_stat.budget <~ dbo.departments.budget: aggregation
# dw.monthly_stat.budget <~ dbo.departments.budget: transformation
# dw.monthly_stat.* <~ dbo.departments.department: group by
# runs not: the environment decides
import os

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://hr")
df = pd.read_sql("SELECT department, budget FROM dbo.departments", engine)
how = os.getenv("HOW", "sum")
out = getattr(df.groupby("department", as_index=False)["budget"], how)()  # gap
out.to_sql("monthly_stat", engine, schema="dw", if_exists="replace", index=False)  # gap
