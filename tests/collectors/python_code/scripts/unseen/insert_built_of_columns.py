# lineage
# dw.readings_raw = dbo.readings: sensor_id
# dw.readings_raw.read_at <- dbo.readings.read_at: transformation
# dw.readings_raw.temperature <- dbo.readings.temperature: transformation
import pandas as pd
import pyodbc

COLUMNS = ["sensor_id", "read_at", "temperature"]
TABLE = "readings_raw"

conn = pyodbc.connect("DSN=plant")
df = pd.read_sql(f"SELECT {', '.join(COLUMNS)} FROM dbo.readings", conn)
df["temperature"] = df["temperature"].astype(float).round(1)
marks = ", ".join(["?"] * len(COLUMNS))
statement = f"INSERT INTO dw.{TABLE} ({', '.join(COLUMNS)}) VALUES ({marks})"
cursor = conn.cursor()
rows = [tuple(row) for row in df.astype({"read_at": str}).itertuples(index=False, name=None)]
cursor.executemany(statement, rows)
conn.commit()
