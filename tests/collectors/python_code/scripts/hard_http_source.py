# lineage
# dw.weather.* ? an answer of a server
# runs not: a server answers
import pandas as pd
import requests
from sqlalchemy import create_engine

answer = requests.get("https://weather.example/api", params={"city": "Bonn"}, timeout=30)  # gap
df = pd.json_normalize(answer.json()["hours"])  # gap
df.to_sql("weather", create_engine("mssql+pyodbc://dwh"), schema="dw", if_exists="append", index=False)  # gap
