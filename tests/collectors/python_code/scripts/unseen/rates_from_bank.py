# lineage
# reads inbox/bank_rates.csv(Currency, Rate, Note)
# dw.bank_rates = inbox/bank_rates.csv: Currency as currency
# dw.bank_rates.rate <- inbox/bank_rates.csv.Rate: transformation
# dw.bank_rates.old_rate <- dbo.rates.rate: identity
# dw.bank_rates.difference <- inbox/bank_rates.csv.Rate, dbo.rates.rate: transformation
# dw.bank_rates.* <- inbox/bank_rates.csv.Currency, dbo.rates.currency: join
# dw.bank_rates.* <- inbox/bank_rates.csv.Rate: filter
import pandas as pd
import pyodbc
from sqlalchemy import create_engine

FILE = "inbox/bank_rates.csv"

new = pd.read_csv(FILE, dtype=str, usecols=["Currency", "Rate"]).rename(columns=str.lower)
new["rate"] = new["rate"].astype(float)
new = new.dropna(subset=["rate"])
old = pd.read_sql("SELECT currency, rate AS old_rate FROM dbo.rates", pyodbc.connect("DSN=shop"))
joined = new.set_index("currency").join(old.set_index("currency"), how="left")
joined["difference"] = joined.rate - joined.old_rate
joined.reset_index().to_sql("bank_rates", create_engine("mssql+pyodbc://dwh"), schema="dw", if_exists="replace", index=False)
