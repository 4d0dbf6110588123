# lineage
# mart.credit_notes = dbo.invoices: customer_id
# mart.credit_notes.open_total <- dbo.invoices.(amount, vat): aggregation
# mart.credit_notes.oldest <- dbo.invoices.due_on: aggregation
# mart.credit_notes.bucket <- dbo.invoices.(amount, vat): conditional
# mart.credit_notes.* <- dbo.invoices.paid_on: filter
# mart.credit_notes.* <- dbo.invoices.customer_id: group by
import numpy as np
import pandas as pd
from sqlalchemy import create_engine

SQL = """
    SELECT customer_id, amount, vat, due_on
      FROM dbo.invoices
     WHERE paid_on IS NULL
"""


def get_data(con):
    return pd.read_sql_query(sql=SQL, con=con)


def summarise(invoices):
    invoices = invoices.assign(total=invoices.amount.add(invoices.vat))
    grouped = invoices.groupby("customer_id").agg(open_total=("total", "sum"), oldest=("due_on", min))
    grouped["bucket"] = np.where(grouped["open_total"].gt(1000), "A", "B")
    return grouped.reset_index()


if __name__ == "__main__":
    db = create_engine("mssql+pyodbc://finance?driver=ODBC+Driver+17+for+SQL+Server")
    summarise(get_data(db)).to_sql(name="credit_notes", con=db, schema="mart", if_exists="replace", index=False)
