# lineage
# mart.sensors_hourly = dbo.readings: sensor_id
# mart.sensors_hourly.hour <- dbo.readings.read_at: transformation
# mart.sensors_hourly.temp_min <- dbo.readings.temperature: aggregation
# mart.sensors_hourly.temp_max <- dbo.readings.temperature: aggregation
# mart.sensors_hourly.humidity <- dbo.readings.humidity: aggregation
# mart.sensors_hourly.readings <- nothing
# mart.sensors_hourly.* <- dbo.readings.(sensor_id, read_at): group by
# mart.sensors_hourly.* <- dbo.readings.humidity: filter
import polars as pl
import pyodbc
from sqlalchemy import create_engine

conn = pyodbc.connect("DSN=plant")
readings = pl.read_database("SELECT sensor_id, read_at, temperature, humidity FROM dbo.readings", conn)
hourly = (
    readings.filter(pl.col("humidity") < 90)
    .with_columns(pl.col("read_at").cast(pl.String).str.slice(0, 13).alias("hour"))
    .group_by(["sensor_id", "hour"])
    .agg(
        pl.col("temperature").min().alias("temp_min"),
        pl.col("temperature").max().alias("temp_max"),
        pl.col("humidity").mean(),
        pl.len().alias("readings"),
    )
)
hourly = hourly.select(["sensor_id", "hour", "temp_min", "temp_max", "humidity", "readings"])
hourly.to_pandas().to_sql("sensors_hourly", create_engine("mssql+pyodbc://dwh"), schema="mart", if_exists="append", index=False)
