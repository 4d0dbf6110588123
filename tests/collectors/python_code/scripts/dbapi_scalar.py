# lineage
# dw.load_log.table_name <- nothing
# dw.load_log.row_count <- nothing
# dw.load_log.newest <- dbo.orders.ordered_at: aggregation
# dw.load_log.logged_at <- nothing
import datetime

import pyodbc

conn = pyodbc.connect("DSN=shop")
cursor = conn.cursor()
cursor.execute("SELECT COUNT(*), MAX(ordered_at) FROM dbo.orders")
n, newest = cursor.fetchone()
cursor.execute(
    "INSERT INTO dw.load_log (table_name, row_count, newest, logged_at) VALUES (?, ?, ?, ?)",
    ("orders", n, newest, datetime.datetime.now()),
)
conn.commit()
