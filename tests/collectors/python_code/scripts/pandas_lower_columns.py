# lineage
# stage.lower_names = dbo.products: sku, name as product_name, price
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql('SELECT sku AS "SKU", name AS "Product Name", price AS "PRICE" FROM dbo.products', engine)
df.columns = [c.lower().replace(" ", "_") for c in df.columns]
df.to_sql("lower_names", engine, schema="stage", if_exists="replace", index=False)
