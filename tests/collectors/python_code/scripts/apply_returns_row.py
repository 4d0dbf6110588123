# lineage
# dw.contact_owner = crm.leads: lead_id, phone
# dw.contact_owner.mail <- crm.leads.(mail, phone): transformation
# dw.contact_owner.mail <- crm.leads.score: conditional
# dw.contact_owner.* <- crm.leads.phone: filter
import pandas as pd
from sqlalchemy import create_engine


def prefer_phone(row):
    if row["score"] < 50:
        row["mail"] = row["phone"]
    return row


engine = create_engine("mssql+pyodbc://crm")
leads = pd.read_sql("SELECT lead_id, mail, phone, score FROM crm.leads", engine)
leads = leads.apply(prefer_phone, axis=1)
leads = leads.dropna(subset=["phone"])
leads.drop(columns=["score"]).to_sql("contact_owner", engine, schema="dw", if_exists="replace", index=False)
