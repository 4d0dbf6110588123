# lineage
# runs not: another file makes the object
# mart.weather_stats.year <- dbo.readings.read_at: transformation
# mart.weather_stats = dbo.readings: sensor_id
# mart.weather_stats.mean_temperature <- dbo.readings.temperature: aggregation
# mart.weather_stats.* <- dbo.readings.humidity: filter
# mart.weather_stats.* <- dbo.readings.(read_at, sensor_id): group by
import pandas as pd
from db_connection import Database


class Analysis:
    def __init__(self):
        self.db = Database()
        self.query = "SELECT sensor_id, read_at, temperature FROM dbo.readings WHERE 1=1"
        self.query += " AND humidity < 100"
        self.insert = "INSERT INTO mart.weather_stats (year, sensor_id, mean_temperature) VALUES (%s, %s, %s)"

    def analyse(self):
        df = pd.read_sql(self.query, self.db.conn)
        df["year"] = [int(day.year) for day in pd.to_datetime(df["read_at"])]
        stats = pd.DataFrame(df.groupby(["year", "sensor_id"]).agg({"temperature": "mean"}).reset_index())
        stats["temperature"] = stats["temperature"] / 10
        return stats

    def write(self):
        rows = []
        for _, row in self.analyse().iterrows():
            rows.append(tuple(row))
        if rows:
            self.db.cursor.executemany(self.insert, rows)
            self.db.conn.commit()
