# lineage
# dw.leads = crm.leads: lead_id
# dw.leads.domain <- crm.leads.mail: transformation
# dw.leads.label <- crm.leads.(full_name, source): transformation
# dw.leads.is_hot <- crm.leads.score: conditional
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
df = pd.read_sql("SELECT lead_id, full_name, mail, source, score FROM crm.leads", engine)
df["domain"] = df["mail"].apply(lambda m: m.split("@")[1])
df["label"] = df.apply(lambda r: f"{r['full_name']} ({r.source})", axis=1)
df["is_hot"] = df.score.map(lambda s: 1 if s > 50 else 0)
df[["lead_id", "domain", "label", "is_hot"]].to_sql(
    "leads", engine, schema="dw", if_exists="replace", index=False
)
