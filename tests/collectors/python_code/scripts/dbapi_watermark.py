# lineage
# exists dw.order_feed(order_id, status, ordered_at)
# dw.order_feed = dbo.orders: order_id, status, ordered_at
# dw.order_feed.* <- dbo.orders.ordered_at: filter
# dw.order_feed.* <~ dw.order_feed.ordered_at: filter
import pyodbc

src = pyodbc.connect("DSN=shop")
dst = pyodbc.connect("DSN=dwh")

last = dst.cursor().execute("SELECT MAX(ordered_at) FROM dw.order_feed").fetchval()
rows = src.cursor().execute(
    "SELECT order_id, status, ordered_at FROM dbo.orders WHERE ordered_at > ?", last
).fetchall()
if rows:
    dst.cursor().executemany(
        "INSERT INTO dw.order_feed (order_id, status, ordered_at) VALUES (?, ?, ?)",
        [tuple(row) for row in rows],
    )
dst.commit()
