# lineage
# dw.new_orders = dbo.orders: order_id, quantity
# dw.new_orders.* <- dbo.orders.order_id: filter
# dw.new_orders.* <- erp.shipments.(order_id, carrier): filter
# dw.rejected = dbo.orders: order_id
# dw.rejected.reasons <- nothing
# dw.rejected.reasons <~ dbo.orders.(quantity, country): conditional
# dw.rejected.* <- dbo.orders.(quantity, country): filter
# dw.accepted = dbo.orders: order_id
# dw.accepted.* <- dbo.orders.(quantity, country): filter
import pyodbc

connection = pyodbc.connect("DSN=shop")
cursor = connection.cursor()


def is_shipped(order_id):
    query = "SELECT 1 FROM erp.shipments WHERE order_id = ? AND carrier = 'post'"
    return connection.cursor().execute(query, (order_id,)).fetchone() is not None


accepted, rejected = [], []
orders = connection.cursor().execute("SELECT order_id, quantity, country FROM dbo.orders")
for order_id, quantity, country in orders.fetchall():
    if not is_shipped(order_id):
        cursor.execute(
            "INSERT INTO dw.new_orders (order_id, quantity) VALUES (?, ?)", (order_id, quantity)
        )
    reasons = []
    if quantity > 9:
        reasons.append("too many")
    if country not in ("DE", "FR", "IT"):
        reasons.append("country")
    if reasons:
        rejected.append((order_id, "; ".join(reasons)))
    else:
        accepted.append((order_id,))
cursor.executemany("INSERT INTO dw.rejected (order_id, reasons) VALUES (?, ?)", rejected)
cursor.executemany("INSERT INTO dw.accepted (order_id) VALUES (?)", accepted)
connection.commit()
