# lineage
# dw.branch = dbo.rates: currency
# dw.branch.value <- dbo.rates.rate: transformation
# runs not: the argument decides on the branch
import sys

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql("SELECT currency, rate FROM dbo.rates", engine)
if len(sys.argv) > 1 and sys.argv[1] == "--inverse":
    df["value"] = 1 / df["rate"]
else:
    df["value"] = df["rate"].round(4)
df = df.drop(columns=["rate"])
df.to_sql("branch", engine, schema="dw", if_exists="replace", index=False)
