# lineage
# stage.invoices.* <- dbo.invoices.*: identity
# stage.invoices.copied_at <- nothing
# stage.payments.* <- dbo.payments.*: identity
# stage.payments.copied_at <- nothing
# stage.leads.* <- crm.leads.*: identity
# stage.leads.copied_at <- nothing
import logging
from datetime import datetime

import pandas as pd
from sqlalchemy import create_engine

logging.basicConfig(level=logging.INFO)
SOURCE = create_engine("mssql+pyodbc://erp")
TARGET = create_engine("mssql+pyodbc://lake")

COPIES = [("dbo", "invoices"), ("dbo", "payments"), ("crm", "leads")]


def copy(schema: str, table: str) -> int:
    frame = pd.read_sql("SELECT * FROM %s.%s" % (schema, table), SOURCE)
    frame["copied_at"] = datetime.utcnow()
    frame.to_sql(table, TARGET, schema="stage", if_exists="replace", index=False)
    return len(frame)


for schema, table in COPIES:
    try:
        logging.info("%s: %d", table, copy(schema, table))
    except Exception as error:
        logging.error("%s failed: %s", table, error)
        raise
