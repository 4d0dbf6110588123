# lineage
# dw.scored = dbo.customers: customer_id
# dw.scored.risk ? a function that is not in the code
# dw.scored.risk <~ dbo.customers.(customer_id, segment, credit_limit): transformation
# runs not: the library is not there
import pandas as pd
from riskmodel import score_row
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
df = pd.read_sql("SELECT customer_id, segment, credit_limit FROM dbo.customers", engine)
df["risk"] = df.apply(score_row, axis=1)  # gap
df[["customer_id", "risk"]].to_sql("scored", engine, schema="dw", if_exists="replace", index=False)
