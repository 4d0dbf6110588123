# lineage
# stage.customers.* <- dbo.customers.*: identity
# stage.customers.load_source <- nothing
# stage.products.* <- dbo.products.*: identity
# stage.products.load_source <- nothing
# stage.taxes.* <- dbo.taxes.*: identity
# stage.taxes.load_source <- nothing
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
TABLES = ["customers", "products", "taxes"]

for table in TABLES:
    df = pd.read_sql(f"SELECT * FROM dbo.{table}", engine)
    df["load_source"] = "shop"
    df.to_sql(table, engine, schema="stage", if_exists="replace", index=False)
    print(f"{table}: {len(df)} rows")
