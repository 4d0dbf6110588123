# lineage
# dw.lead_mail = crm.leads: lead_id
# dw.lead_mail.mail <- crm.leads.mail: transformation
# dw.lead_mail.owner <- crm.leads.owner_id: transformation
import logging
from itertools import islice

import pyodbc

logger = logging.getLogger("leads")
BATCH = 4


def batches(iterable, size):
    it = iter(iterable)
    while chunk := list(islice(it, size)):
        yield chunk


def convert(row):
    return row.lead_id, row.mail.strip().lower(), int(row.owner_id or 0)


def main():
    conn = pyodbc.connect("DSN=crm")
    try:
        rows = conn.cursor().execute("SELECT lead_id, mail, owner_id FROM crm.leads").fetchall()
        converted = [convert(row) for row in rows]
        for batch in batches(converted, BATCH):
            conn.cursor().executemany(
                "INSERT INTO dw.lead_mail (lead_id, mail, owner) VALUES (?, ?, ?)", batch
            )
        conn.commit()
    except pyodbc.Error:
        logger.exception("failed")
        conn.rollback()
        raise
    finally:
        conn.close()


main()
