import pandas as pd
from sqlalchemy import create_engine

SCHEMA = "dw"


def get_engine():
    return create_engine("mssql+pyodbc://shop")


def fetch(sql):
    return pd.read_sql(sql, get_engine())


def store(df, table, schema=SCHEMA):
    df.to_sql(table, get_engine(), schema=schema, if_exists="append", index=False)
