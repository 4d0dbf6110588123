# lineage
# dw.all_addresses.id <- dbo.customers.customer_id, crm.leads.lead_id, dbo.suppliers.supplier_id: transformation
# dw.all_addresses.address <- dbo.customers.email, crm.leads.mail, dbo.suppliers.phone: identity
# dw.all_addresses.origin <- nothing
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://dwh")
SOURCES = {
    "customer": ("dbo.customers", "customer_id", "email"),
    "lead": ("crm.leads", "lead_id", "mail"),
    "supplier": ("dbo.suppliers", "supplier_id", "phone"),
}

frames = []
for origin, (table, key, address) in SOURCES.items():
    part = pd.read_sql(f"SELECT {key} AS id, {address} AS address FROM {table}", engine)
    part["id"] = origin[0].upper() + part["id"].astype(str)
    part["origin"] = origin
    frames.append(part)

pd.concat(frames).reset_index(drop=True).to_sql(
    "all_addresses", engine, schema="dw", if_exists="replace", index=False
)
