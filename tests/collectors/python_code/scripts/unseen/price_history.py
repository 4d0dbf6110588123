# lineage
# dw.price_history = dbo.prices: product_id, net, valid_from
# dw.price_history.valid_to <- dbo.prices.valid_from: transformation
# dw.price_history.valid_to <- dbo.prices.currency: window
# dw.price_history.change <- dbo.prices.net: transformation
# dw.price_history.change <- dbo.prices.currency: window
# dw.price_history.valid_to <~ dbo.prices.valid_from: window
# dw.price_history.change <~ dbo.prices.valid_from: window
# dw.price_history.* <- dbo.prices.(currency, valid_from): sort
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
prices = pd.read_sql_table("prices", con=engine, schema="dbo", columns=["product_id", "currency", "net", "valid_from"])
prices.sort_values(["currency", "valid_from"], inplace=True)
prices["valid_to"] = prices.groupby("currency")["valid_from"].shift(-1)
prices["change"] = prices.groupby("currency")["net"].diff()
del prices["currency"]
prices.to_sql("price_history", engine, schema="dw", if_exists="replace", index=False)
