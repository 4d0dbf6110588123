# lineage
# out/invoices.csv = dbo.invoices: invoice_id as Invoice, customer_id as Customer
# out/invoices.csv.Gross <- dbo.invoices.(amount, vat): transformation
# out/invoices.csv.* <- dbo.invoices.invoice_id: sort
import csv
import os

import pyodbc

os.makedirs("out", exist_ok=True)
conn = pyodbc.connect("DSN=erp")
cursor = conn.cursor()
cursor.execute("SELECT invoice_id, customer_id, amount, vat FROM dbo.invoices ORDER BY invoice_id")
with open("out/invoices.csv", "w", newline="", encoding="utf-8") as f:
    writer = csv.writer(f, delimiter=",")
    writer.writerow(["Invoice", "Customer", "Gross"])
    for row in cursor:
        writer.writerow([row.invoice_id, row.customer_id, f"{row.amount + row.vat:.2f}"])
