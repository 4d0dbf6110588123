# lineage
# dw.event_payloads = crm.events: event_id
# dw.event_payloads.page <- crm.events.payload: transformation
# dw.event_payloads.seconds <- crm.events.payload: transformation
import json

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
df = pd.read_sql("SELECT event_id, payload FROM crm.events", engine)
df["payload"] = df["payload"].apply(json.loads)
df["page"] = df["payload"].apply(lambda p: p.get("page"))
df["seconds"] = [p["seconds"] for p in df["payload"]]
df[["event_id", "page", "seconds"]].to_sql("event_payloads", engine, schema="dw", if_exists="replace", index=False)
