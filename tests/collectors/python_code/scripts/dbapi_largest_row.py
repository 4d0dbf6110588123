# lineage
# dw.largest = dbo.invoices: invoice_id, amount
# dw.largest.invoice_id <- dbo.invoices.amount: conditional
# dw.largest.amount <- dbo.invoices.amount: conditional
# dw.per_customer.customer_id <- dbo.invoices.customer_id: identity
# dw.per_customer.total <- dbo.invoices.amount: aggregation
# dw.per_customer.* <- dbo.invoices.customer_id: group by
from itertools import groupby
from operator import itemgetter

import pyodbc

connection = pyodbc.connect("DSN=shop")
cursor = connection.cursor()
invoices = cursor.execute("SELECT customer_id, invoice_id, amount FROM dbo.invoices").fetchall()
largest = None
for customer_id, invoice_id, amount in invoices:
    if largest is None or amount > largest[1]:
        largest = (invoice_id, amount)
cursor.execute("INSERT INTO dw.largest (invoice_id, amount) VALUES (?, ?)", largest)
for customer_id, rows in groupby(sorted(invoices, key=itemgetter(0)), key=itemgetter(0)):
    cursor.execute(
        "INSERT INTO dw.per_customer (customer_id, total) VALUES (?, ?)",
        (customer_id, sum(row[2] for row in rows)),
    )
connection.commit()
