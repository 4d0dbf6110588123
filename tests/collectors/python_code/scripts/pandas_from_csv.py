# lineage
# reads inbox/price_list.csv(SKU, Price, Currency, Remark)
# dw.supplier_prices = inbox/price_list.csv: SKU as sku
# dw.supplier_prices.price <- inbox/price_list.csv.Price: transformation
# dw.supplier_prices.currency <- inbox/price_list.csv.Currency: transformation
# dw.supplier_prices.file_name <- nothing
import pandas as pd
from sqlalchemy import create_engine

PATH = "inbox/price_list.csv"

df = pd.read_csv(PATH, usecols=["SKU", "Price", "Currency"])
df.columns = ["sku", "price", "currency"]
df["price"] = pd.to_numeric(df["price"], errors="coerce")
df["currency"] = df["currency"].str.upper().fillna("EUR")
df["file_name"] = PATH
df.to_sql("supplier_prices", create_engine("mssql+pyodbc://dwh"), schema="dw", if_exists="append", index=False)
