# lineage
# dw.chosen.* ? the columns stand in the environment
# dw.chosen.* <~ dbo.products.(product_id, sku, name, price): identity
# runs not: the environment decides
import os

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
df = pd.read_sql("SELECT product_id, sku, name, price FROM dbo.products", engine)
columns = os.environ["EXPORT_COLUMNS"].split(",")
df[columns].to_sql("chosen", engine, schema="dw", if_exists="replace", index=False)  # gap
