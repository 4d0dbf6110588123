# lineage
# dw.rules = dbo.invoices: invoice_id
# dw.rules.result ? text that is executed
# dw.rules.result <~ dbo.invoices.(invoice_id, amount): transformation
# runs not: the rule is read at run time
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://erp")
df = pd.read_sql("SELECT invoice_id, amount FROM dbo.invoices", engine)
rule = open("/etc/rules/invoice.txt").read()
scope = {"df": df}
exec(rule, scope)  # gap
df["result"] = scope["result"]  # gap
df[["invoice_id", "result"]].to_sql("rules", engine, schema="dw", if_exists="replace", index=False)
