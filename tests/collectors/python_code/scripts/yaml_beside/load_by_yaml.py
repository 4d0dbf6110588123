# lineage
# dw.articles = dbo.products: product_id as article_id, sku, name as title
# dw.fx = dbo.rates: currency, rate
from pathlib import Path

import pandas as pd
import yaml
from sqlalchemy import create_engine

HERE = Path(__file__).parent

with open(HERE / "tables.yml") as f:
    config = yaml.safe_load(f)

engine = create_engine("mssql+pyodbc://shop")
for job in config["jobs"]:
    frame = pd.read_sql(f"SELECT * FROM {job['source']}", engine)
    frame = frame[job["keep"]].rename(columns=job["rename"])
    frame.to_sql(job["target"], engine, schema=config["schema"], if_exists="append", index=False)
