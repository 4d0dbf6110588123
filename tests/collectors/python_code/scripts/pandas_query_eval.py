# lineage
# dw.margins = dbo.products: product_id, name
# dw.margins.margin <- dbo.products.(price, cost): transformation
# dw.margins.margin_rate <- dbo.products.(price, cost): transformation
# dw.margins.* <- dbo.products.(category, price): filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
low = 5
df = pd.read_sql("SELECT product_id, name, category, price, cost FROM dbo.products", engine)
df = df.query("category != 'gift' and price > @low")
df = df.eval("margin = price - cost")
df.eval("margin_rate = margin / price", inplace=True)
df.filter(items=["product_id", "name", "margin", "margin_rate"]).to_sql(
    "margins", engine, schema="dw", if_exists="replace", index=False
)
