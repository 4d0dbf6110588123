# lineage
# dw.invoice_totals = dbo.invoices: invoice_id as id
# dw.invoice_totals.total <- dbo.invoices.(amount, vat): transformation
# dw.invoice_totals.* <- dbo.invoices.amount: filter
import pyodbc

cnxn = pyodbc.connect("DSN=erp", autocommit=True)
cursor = cnxn.cursor()
insert = cnxn.cursor()

for row in cursor.execute("SELECT invoice_id, amount, vat FROM dbo.invoices"):
    if row.amount < 100:
        continue
    total = row.amount + row.vat
    insert.execute("INSERT INTO dw.invoice_totals (id, total) VALUES (?, ?)", row.invoice_id, total)
