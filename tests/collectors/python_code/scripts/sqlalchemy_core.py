# lineage
# dw.active_leads = crm.leads: lead_id, mail as contact
# dw.active_leads.score_pct <- crm.leads.score: transformation
# dw.active_leads.* <- crm.leads.score: filter
from sqlalchemy import Column, Float, Integer, MetaData, String, Table, create_engine, insert, select

metadata = MetaData()
leads = Table(
    "leads", metadata,
    Column("lead_id", Integer), Column("mail", String), Column("score", Integer),
    schema="crm",
)
active = Table(
    "active_leads", metadata,
    Column("lead_id", Integer), Column("contact", String), Column("score_pct", Float),
    schema="dw",
)

engine = create_engine("mssql+pyodbc://crm")
with engine.begin() as conn:
    result = conn.execute(select(leads.c.lead_id, leads.c.mail, leads.c.score).where(leads.c.score > 30))
    values = [
        {"lead_id": row.lead_id, "contact": row.mail, "score_pct": row.score / 100} for row in result
    ]
    conn.execute(insert(active), values)
