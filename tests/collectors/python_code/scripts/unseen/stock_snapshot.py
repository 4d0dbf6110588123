# lineage
# dw.stock_snapshot = dbo.stock: warehouse, product_id
# dw.stock_snapshot.available <- dbo.stock.(on_hand, reserved): transformation
# dw.stock_snapshot.taken_on <- nothing
# dw.stock_snapshot.batch_no <- nothing
import datetime as dt
import uuid

import pyodbc

BATCH = str(uuid.uuid4())


class Warehouse:
    def __init__(self, dsn):
        self.conn = pyodbc.connect(dsn)
        self.rows = []

    def read(self):
        cursor = self.conn.cursor()
        cursor.execute("SELECT warehouse, product_id, on_hand, reserved FROM dbo.stock")
        self.rows = cursor.fetchall()

    def write(self, today):
        sql = "INSERT INTO dw.stock_snapshot (warehouse, product_id, available, taken_on, batch_no) VALUES (?,?,?,?,?)"
        cursor = self.conn.cursor()
        for r in self.rows:
            cursor.execute(sql, (r.warehouse, r.product_id, max(r.on_hand - r.reserved, 0), today, BATCH))
        self.conn.commit()


w = Warehouse("DSN=wms")
w.read()
w.write(dt.date.today().isoformat())
