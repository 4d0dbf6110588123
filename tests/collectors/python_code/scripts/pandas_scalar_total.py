# lineage
# mart.shares = dbo.departments: department
# mart.shares.share <- dbo.departments.budget: aggregation
# mart.shares.share <~ dbo.departments.budget: transformation
# mart.shares.over_mean <- dbo.departments.budget: aggregation
# mart.shares.over_mean <~ dbo.departments.budget: transformation
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://hr")
d = pd.read_sql("SELECT department, budget FROM dbo.departments", engine)
total = d["budget"].sum()
d["share"] = d["budget"] / total
d["over_mean"] = (d["budget"] > d["budget"].mean()).astype(int)
d.drop(columns="budget", inplace=True)
d.to_sql("shares", engine, schema="mart", if_exists="replace", index=False)
