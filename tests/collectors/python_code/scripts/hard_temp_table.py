# lineage
# runs not: SQLite has no tables named #…
# #wanted = dbo.orders: order_id
# #wanted.* <- dbo.orders.quantity: filter
# dw.wanted_orders = dbo.orders: order_id, country
# dw.wanted_orders.* <- dbo.orders.order_id, #wanted.order_id: join
import pandas as pd
import pyodbc

conn = pyodbc.connect("DSN=shop")
orders = pd.read_sql("SELECT order_id, quantity FROM dbo.orders", conn)
ids = orders.loc[orders["quantity"] > 4, "order_id"].tolist()
cur = conn.cursor()
cur.execute("CREATE TABLE #wanted (order_id INT)")
cur.executemany("INSERT INTO #wanted (order_id) VALUES (?)", [(i,) for i in ids])
cur.execute("""
    INSERT INTO dw.wanted_orders (order_id, country)
    SELECT o.order_id, o.country FROM dbo.orders o JOIN #wanted w ON w.order_id = o.order_id
""")
conn.commit()
