# lineage
# dw.taxes.index <- nothing
# dw.taxes = dbo.taxes: country
# dw.taxes.percent <- dbo.taxes.rate: transformation
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
taxes = pd.read_sql("SELECT country, rate FROM dbo.taxes", engine)
taxes["percent"] = taxes.pop("rate") * 100
taxes.to_sql("taxes", engine, schema="dw", if_exists="replace")
