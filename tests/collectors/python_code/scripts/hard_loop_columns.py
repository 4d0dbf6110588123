# lineage
# dw.trimmed = dbo.suppliers: supplier_id
# dw.trimmed.name <- dbo.suppliers.name: transformation
# dw.trimmed.city <- dbo.suppliers.city: transformation
# dw.trimmed.phone <- dbo.suppliers.phone: transformation
# dw.trimmed.name_length <- dbo.suppliers.name: transformation
# dw.trimmed.city_length <- dbo.suppliers.city: transformation
# dw.trimmed.phone_length <- dbo.suppliers.phone: transformation
import pandas as pd
from sqlalchemy import create_engine

TEXT = ("name", "city", "phone")

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql("SELECT supplier_id, name, city, phone FROM dbo.suppliers", engine)
for col in TEXT:
    df[col] = df[col].str.strip()
    df[f"{col}_length"] = df[col].str.len()
df.to_sql("trimmed", engine, schema="dw", if_exists="replace", index=False)
