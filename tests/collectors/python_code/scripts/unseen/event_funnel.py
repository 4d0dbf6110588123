# lineage
# mart.funnel.day <- crm.events.happened_at: transformation
# mart.funnel.opens <- crm.events.kind: aggregation
# mart.funnel.clicks <- crm.events.kind: aggregation
# mart.funnel.click_rate <- crm.events.kind: aggregation
# mart.funnel.* <- crm.events.happened_at: group by
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
ev = pd.read_sql("SELECT kind, happened_at FROM crm.events", engine)
ev["day"] = pd.to_datetime(ev["happened_at"]).dt.date
ev["opens"] = (ev["kind"] == "open").astype(int)
ev["clicks"] = ev["kind"].eq("click").astype(int)
funnel = ev.groupby("day", as_index=False)[["opens", "clicks"]].sum()
funnel["click_rate"] = funnel["clicks"] / (funnel["opens"] + 1)
funnel.to_sql("funnel", engine, schema="mart", if_exists="replace", index=False)
