# lineage
# dw.invoices = dbo.invoices: invoice_id
# dw.invoices.gross <- dbo.invoices.(amount, vat): transformation
# dw.invoices.state <- dbo.invoices.paid_on: conditional
# dw.invoices.class <- dbo.invoices.amount: conditional
import pandas as pd
from sqlalchemy import create_engine


def gross(row):
    return row["amount"] + row["vat"]


def state(row):
    if pd.isna(row["paid_on"]):
        return "open"
    return "paid"


def amount_class(amount):
    if amount < 100:
        return "small"
    elif amount < 500:
        return "medium"
    return "large"


def main():
    engine = create_engine("mssql+pyodbc://erp")
    inv = pd.read_sql("SELECT * FROM dbo.invoices", engine)
    inv["gross"] = inv.apply(gross, axis=1)
    inv["state"] = inv.apply(state, axis=1)
    inv["class"] = inv["amount"].apply(amount_class)
    inv = inv[["invoice_id", "gross", "state", "class"]]
    inv.to_sql("invoices", engine, schema="dw", if_exists="replace", index=False)


if __name__ == "__main__":
    main()
