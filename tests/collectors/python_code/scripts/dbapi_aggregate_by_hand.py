# lineage
# mart.paid_by_method = dbo.payments: method
# mart.paid_by_method.total <- dbo.payments.amount: aggregation
# mart.paid_by_method.* <- dbo.payments.method: group by
from collections import defaultdict

import pyodbc

conn = pyodbc.connect("DSN=erp")
cur = conn.cursor()
totals = defaultdict(float)
for method, amount in cur.execute("SELECT method, amount FROM dbo.payments").fetchall():
    totals[method] += amount

cur.executemany("INSERT INTO mart.paid_by_method (method, total) VALUES (?, ?)", list(totals.items()))
conn.commit()
