# lineage
# reads inbox/clean/campaigns.csv(Code, Name, Start)
# dw.campaigns.campaign_id <- nothing
# dw.campaigns = inbox/clean/campaigns.csv: Code as code
# dw.campaigns.name <- inbox/clean/campaigns.csv.Name: transformation
import os

import pandas as pd
from sqlalchemy import create_engine

CLEAN_DATA_PATH = "inbox/clean/"


def load():
    engine = create_engine("mssql+pyodbc://dwh")
    try:
        campaigns = pd.read_csv(os.path.join(CLEAN_DATA_PATH, "campaigns.csv"))
    except FileNotFoundError as error:
        print(f"File not found: {error}")
        return
    campaigns["campaign_id"] = range(1, len(campaigns) + 1)
    campaigns["name"] = campaigns["Name"].fillna("").str.title()
    campaigns = campaigns.rename(columns={"Code": "code"})
    campaigns[["campaign_id", "code", "name"]].to_sql("campaigns", engine, schema="dw", if_exists="append", index=False)


load()
