# lineage
# export/products.csv = dbo.products: sku as Artikel, price as Preis
# export/products.csv = dbo.products: name as Bezeichnung
# export/products.csv.Gewicht kg <- dbo.products.weight_g: transformation
# export/products.csv.* <- dbo.products.(is_sold, category): filter
# export/products.csv.* <- dbo.products.sku: sort
import os
from pathlib import Path

import pandas as pd
from sqlalchemy import create_engine

OUT = Path("export")
OUT.mkdir(exist_ok=True)
HEADER = {"sku": "Artikel", "name": "Bezeichnung", "price": "Preis", "weight": "Gewicht kg"}

engine = create_engine(os.environ.get("SHOP_URL", "mssql+pyodbc://shop"))
df = pd.read_sql(
    "SELECT sku, name, price, weight_g FROM dbo.products WHERE is_sold = 1 AND category IN ('tool', 'toy')", engine
)
df["weight"] = df["weight_g"].div(1000).round(2)
df.sort_values("sku")[list(HEADER)].rename(columns=HEADER).to_csv(OUT / "products.csv", index=False, sep=",")
