# lineage
# dw.forecast.* ? a library makes the frame
# dw.forecast.* <~ dbo.orders.(ordered_at, quantity): transformation
# runs not: the library is not there
import pandas as pd
from forecasting import Forecaster
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
history = pd.read_sql("SELECT ordered_at, quantity FROM dbo.orders", engine)
model = Forecaster(horizon=30)  # gap
model.fit(history)
forecast = model.predict()  # gap
forecast.to_sql("forecast", engine, schema="dw", if_exists="replace", index=False)  # gap
