# lineage
# mart.dunning = dbo.customers: customer_id, email
# mart.dunning.due <- dbo.invoices.(amount, vat): aggregation
# mart.dunning.since <- dbo.invoices.due_on: aggregation
# mart.dunning.* <- dbo.invoices.paid_on: filter
# mart.dunning.* <- dbo.invoices.customer_id, dbo.customers.customer_id: join
# mart.dunning.* <- dbo.customers.(customer_id, email): group by
import os

import pandas as pd
from sqlalchemy import create_engine

BASE = os.path.dirname(os.path.abspath(__file__))


def read_query(name):
    with open(os.path.join(BASE, "sql", name + ".sql"), "r") as handle:
        return handle.read()


def run():
    engine = create_engine("mssql+pyodbc://erp")
    df = pd.read_sql(read_query("open_invoices"), engine)
    df = df.groupby(["customer_id", "email"], as_index=False).agg({"due": "sum", "due_on": "min"})
    df = df.rename(columns={"due_on": "since"})
    df.to_sql("dunning", engine, schema="mart", if_exists="replace", index=False)


run()
