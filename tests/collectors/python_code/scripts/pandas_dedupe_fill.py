# lineage
# dw.latest_events = crm.events: lead_id
# dw.latest_events.kind <- crm.events.kind: transformation
# dw.latest_events.happened_at <- crm.events.happened_at: identity
# dw.latest_events.* <- crm.events.happened_at: sort
# dw.latest_events.* <- crm.events.lead_id: group by
# dw.latest_events.* <- crm.events.lead_id: filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
e = pd.read_sql("SELECT lead_id, kind, happened_at FROM crm.events", engine)
e = e.dropna(subset=["lead_id"])
e = e.sort_values("happened_at").drop_duplicates(subset="lead_id", keep="last")
e["kind"] = e["kind"].fillna("unknown")
e = e.reset_index(drop=True)
e.to_sql("latest_events", engine, schema="dw", if_exists="replace", index=False)
