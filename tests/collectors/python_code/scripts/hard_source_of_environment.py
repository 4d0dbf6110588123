# lineage
# runs not: the environment names the table
# dwh.clean.lat ? the source's name is not known
# dwh.clean.flag ? the source's name is not known
# dwh.clean.* ? the source's name is not known
import os

import pandas as pd
from sqlalchemy import create_engine

engine = create_engine(os.getenv("DWH"))
df = pd.read_sql(f"SELECT * FROM {os.getenv('RAW_SCHEMA')}.{os.getenv('RAW_TABLE')}", engine)  # gap
df["lat"] = pd.to_numeric(df["lat"], errors="coerce")  # gap
df = df[(df["lat"] >= -90) & (df["lat"] <= 90)].dropna(subset=["lat"])
df["flag"] = ""
df.loc[df["lat"] == 0, "flag"] += "zero"  # gap
df.to_sql("clean", engine, schema="dwh", if_exists="replace", index=False)  # gap
