# lineage
# dw.prices_eur = dbo.prices: product_id
# dw.prices_eur.rate <- dbo.rates.rate: identity
# dw.prices_eur.rate <- dbo.prices.currency, dbo.rates.currency: conditional
# dw.prices_eur.net_eur <- dbo.prices.net, dbo.rates.rate: transformation
# dw.prices_eur.net_eur <- dbo.prices.currency, dbo.rates.currency: conditional
# dw.prices_eur.region <- dbo.prices.country: transformation
import pandas as pd
from sqlalchemy import create_engine

REGIONS = {"DE": "central", "FR": "west", "IT": "south", "PL": "central"}

engine = create_engine("mssql+pyodbc://shop")
prices = pd.read_sql("SELECT product_id, net, currency, country FROM dbo.prices", engine)
rates = pd.read_sql("SELECT currency, rate FROM dbo.rates", engine)
prices["rate"] = prices["currency"].map(rates.set_index("currency")["rate"])
prices["net_eur"] = prices["net"] * prices["rate"]
prices["region"] = prices["country"].map(REGIONS)
prices.drop(columns=["net", "currency", "country"], inplace=True)
prices.to_sql("prices_eur", engine, schema="dw", if_exists="replace", index=False)
