# lineage
# dw.lead_address = crm.leads: lead_id
# dw.lead_address.contact <- crm.leads.(mail, phone): transformation
# dw.lead_address.contact <~ crm.leads.(mail, score): conditional
# dw.lead_address.contact <- crm.leads.score: conditional
# dw.lead_address.is_mail <- crm.leads.score: conditional
# dw.lead_address.weight <- crm.leads.(score, owner_id): transformation
import numpy as np
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://crm")
leads = pd.read_sql("SELECT lead_id, mail, phone, score, owner_id FROM crm.leads", engine)
leads["contact"] = leads["mail"].where(leads["score"] > 40, leads["phone"])
leads["is_mail"] = np.where(leads["score"] > 40, True, False)
leads["weight"] = leads[["score", "owner_id"]].sum(axis=1)
leads[["lead_id", "contact", "is_mail", "weight"]].to_sql(
    "lead_address", engine, schema="dw", if_exists="replace", index=False
)
