# lineage
# dw.lead_contacts = crm.leads: lead_id
# dw.lead_contacts.phone <- crm.leads.phone: transformation
# dw.lead_contacts.first <- crm.leads.full_name: transformation
# dw.lead_contacts.last <- crm.leads.full_name: transformation
# dw.lead_contacts.* <- crm.leads.score: filter
import pandas as pd
from sqlalchemy import create_engine


def clean_phone(df: pd.DataFrame, column: str) -> pd.DataFrame:
    df = df.copy()
    df[column] = df[column].str.replace(r"\D", "", regex=True)
    return df


def split_name(df: pd.DataFrame) -> pd.DataFrame:
    df[["first", "last"]] = df["full_name"].str.split(" ", n=1, expand=True)
    return df.drop(columns=["full_name"])


engine = create_engine("mssql+pyodbc://crm")
(
    pd.read_sql("SELECT lead_id, full_name, phone, score FROM crm.leads", engine)
    .pipe(clean_phone, "phone")
    .pipe(split_name)
    .query("score >= 20")
    .drop(columns="score")
    .to_sql("lead_contacts", engine, schema="dw", if_exists="append", index=False)
)
