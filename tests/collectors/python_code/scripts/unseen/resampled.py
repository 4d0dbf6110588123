# lineage
# mart.daily_temperature.day <- dbo.readings.read_at: transformation
# mart.daily_temperature.temperature <- dbo.readings.temperature: aggregation
# mart.daily_temperature.peak <- dbo.readings.temperature: aggregation
# mart.daily_temperature.* <- dbo.readings.read_at: group by
# mart.daily_temperature.* <- dbo.readings.humidity: filter
# mart.daily_temperature.* <- dbo.readings.temperature: filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://plant")
readings = pd.read_sql(
    "SELECT read_at, temperature FROM dbo.readings WHERE humidity < 95", engine, parse_dates=["read_at"]
)
daily = readings.groupby(pd.Grouper(key="read_at", freq="D"))["temperature"].agg(["mean", "max"])
daily = daily.dropna().reset_index()
daily.columns = ["day", "temperature", "peak"]
daily.to_sql("daily_temperature", engine, schema="mart", if_exists="replace", index=False)
