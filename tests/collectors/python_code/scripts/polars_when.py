# lineage
# out/readings.parquet = dbo.readings: sensor_id
# out/readings.parquet.state <- dbo.readings.temperature: conditional
# out/readings.parquet.celsius <- dbo.readings.temperature: transformation
# out/readings.parquet.humidity <- dbo.readings.humidity: transformation
import os

import polars as pl
import pyodbc

os.makedirs("out", exist_ok=True)
frame = pl.read_database("SELECT sensor_id, temperature, humidity FROM dbo.readings", pyodbc.connect("DSN=plant"))
frame = frame.with_columns(
    pl.when(pl.col("temperature") > 30).then(pl.lit("hot")).otherwise(pl.lit("fine")).alias("state"),
    pl.col("temperature").round(0).alias("celsius"),
    pl.col("humidity").cast(pl.Float64) / 100,
).drop("temperature")
frame.write_parquet("out/readings.parquet")
