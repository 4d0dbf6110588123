# lineage
# mart.all_means = dbo.readings: sensor_id
# mart.all_means.* ? numeric columns of a table whose columns the code does not name
# mart.all_means.* <~ dbo.readings.*: aggregation
# mart.all_means.* <- dbo.readings.sensor_id: group by
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://plant")
df = pd.read_sql("SELECT * FROM dbo.readings", engine)
means = df.groupby("sensor_id").mean(numeric_only=True).reset_index()  # gap
means.to_sql("all_means", engine, schema="mart", if_exists="replace", index=False)  # gap
