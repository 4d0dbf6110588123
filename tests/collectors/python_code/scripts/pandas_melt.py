# lineage
# dw.measures = dbo.readings: sensor_id, read_at
# dw.measures.quantity <- nothing
# dw.measures.value <- dbo.readings.(temperature, humidity): identity
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://plant")
wide = pd.read_sql("SELECT sensor_id, read_at, temperature, humidity FROM dbo.readings", engine)
long = wide.melt(
    id_vars=["sensor_id", "read_at"],
    value_vars=["temperature", "humidity"],
    var_name="quantity",
    value_name="value",
)
long.to_sql("measures", engine, schema="dw", if_exists="append", index=False)
