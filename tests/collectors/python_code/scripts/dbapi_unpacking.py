# lineage
# dw.readings = dbo.readings: sensor_id
# dw.readings.at <- dbo.readings.read_at: identity
# dw.readings.fahrenheit <- dbo.readings.temperature: transformation
# dw.readings.damp <- dbo.readings.humidity: conditional
import pyodbc

connection = pyodbc.connect("DSN=plant")
with connection.cursor() as cur:
    rows = cur.execute("SELECT sensor_id, read_at, temperature, humidity FROM dbo.readings").fetchall()

params = []
for sensor, at, celsius, humidity in rows:
    fahrenheit = celsius * 9 / 5 + 32
    params.append([sensor, at, fahrenheit, "yes" if humidity > 60 else "no"])

with connection.cursor() as cur:
    cur.executemany(
        "INSERT INTO dw.readings (sensor_id, at, fahrenheit, damp) VALUES (?, ?, ?, ?)",
        params,
    )
connection.commit()
