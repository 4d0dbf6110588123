# lineage
# dw.events.lead_id <- crm.events.lead_id: identity
# dw.events.what <- crm.events.kind: transformation
# dw.events.at <- crm.events.happened_at: identity
import pandas as pd
import pyodbc
from sqlalchemy import create_engine

conn = pyodbc.connect("DSN=crm")
cursor = conn.cursor()
cursor.execute("SELECT lead_id, kind, happened_at FROM crm.events")
records = []
for lead_id, kind, at in cursor.fetchall():
    records.append({"lead_id": lead_id, "what": (kind or "none").upper(), "at": at})
df = pd.DataFrame(records)
df.to_sql("events", create_engine("mssql+pyodbc://dwh"), schema="dw", if_exists="replace", index=False)
