# lineage
# dw.phone_book = dbo.suppliers: name
# dw.phone_book.digits <- dbo.suppliers.phone: transformation
# dw.phone_book.* <- dbo.suppliers.city: filter
import re

import pyodbc


def read(cursor):
    cursor.execute("SELECT name, city, phone FROM dbo.suppliers")
    while (row := cursor.fetchone()) is not None:
        yield row


def clean(rows):
    for row in rows:
        if len(row.city) < 5:
            continue
        yield {"name": row.name, "digits": re.sub(r"[^0-9]", "", row.phone)}


def write(cursor, records):
    for record in records:
        cursor.execute(
            "INSERT INTO dw.phone_book (name, digits) VALUES (?, ?)", (record["name"], record["digits"])
        )


conn = pyodbc.connect("DSN=shop")
write(conn.cursor(), clean(read(conn.cursor())))
conn.commit()
