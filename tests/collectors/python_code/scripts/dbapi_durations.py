# lineage
# dw.durations = erp.shipments: shipment_id
# dw.durations.days_late <- erp.shipments.(shipped_at, delivered_at): transformation
import pyodbc

LIMIT = 3
COLUMNS = ["shipment_id", "days_late"]


def days_late(start, end):
    return (end - start).days - LIMIT


conn = pyodbc.connect("DSN=erp")
cursor = conn.cursor()
rows = []
for shipment_id, shipped, delivered in cursor.execute(
    "SELECT shipment_id, shipped_at, delivered_at FROM erp.shipments"
).fetchall():
    rows.append((shipment_id, days_late(shipped, delivered)))
marks = ", ".join(["?"] * len(COLUMNS))
cursor.executemany(f"INSERT INTO dw.durations ({', '.join(COLUMNS)}) VALUES ({marks})", rows)
conn.commit()
