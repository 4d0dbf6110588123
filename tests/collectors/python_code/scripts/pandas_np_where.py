# lineage
# dw.tariffs = dbo.products: product_id
# dw.tariffs.shipping <- dbo.products.weight_g: conditional
# dw.tariffs.final_price <- dbo.products.(price, cost): transformation
# dw.tariffs.final_price <- dbo.products.is_sold: conditional
# dw.tariffs.band <- dbo.products.price: conditional
import numpy as np
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
p = pd.read_sql("SELECT product_id, price, cost, weight_g, is_sold FROM dbo.products", engine)
p["shipping"] = np.where(p["weight_g"] > 500, 9.9, 4.9)
p["final_price"] = np.where(p["is_sold"] == 1, p["price"], p["cost"])
p["band"] = np.select([p["price"] < 10, p["price"] < 50], ["low", "mid"], default="high")
p = p.drop(columns=["price", "cost", "weight_g", "is_sold"])
p.to_sql("tariffs", engine, schema="dw", if_exists="replace", index=False)
