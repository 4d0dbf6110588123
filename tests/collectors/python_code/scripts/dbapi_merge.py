# lineage
# runs not: SQLite has no MERGE
# dw.customer = dbo.customers: customer_id, email, segment
# dw.customer.* <- dbo.customers.customer_id: join
import pyodbc

MERGE = """
MERGE INTO dw.customer AS t
USING (VALUES (?, ?, ?)) AS s (customer_id, email, segment)
ON t.customer_id = s.customer_id
WHEN MATCHED THEN UPDATE SET email = s.email, segment = s.segment
WHEN NOT MATCHED THEN INSERT (customer_id, email, segment) VALUES (s.customer_id, s.email, s.segment);
"""

conn = pyodbc.connect("DSN=crm")
cursor = conn.cursor()
rows = cursor.execute("SELECT customer_id, email, segment FROM dbo.customers").fetchall()
for customer_id, email, segment in rows:
    cursor.execute(MERGE, (customer_id, email, segment))
conn.commit()
