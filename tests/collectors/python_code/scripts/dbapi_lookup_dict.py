# lineage
# dw.payments_eur = dbo.payments: payment_id
# dw.payments_eur = dbo.invoices: customer_id
# dw.payments_eur.customer_id <- dbo.payments.invoice_id, dbo.invoices.invoice_id: conditional
# dw.payments_eur.cents <- dbo.payments.amount: transformation
import pyodbc

conn = pyodbc.connect("DSN=erp")
cursor = conn.cursor()

customer_of = {}
for row in cursor.execute("SELECT invoice_id, customer_id FROM dbo.invoices"):
    customer_of[row.invoice_id] = row.customer_id

cursor.execute("SELECT payment_id, invoice_id, amount FROM dbo.payments")
result = []
for payment_id, invoice_id, amount in cursor.fetchall():
    result.append((payment_id, customer_of.get(invoice_id), int(amount * 100)))

cursor.executemany("INSERT INTO dw.payments_eur (payment_id, customer_id, cents) VALUES (?, ?, ?)", result)
conn.commit()
