# lineage
# dw.shipments = erp.shipments: shipment_id, carrier
# dw.shipments.days <- erp.shipments.(shipped_at, delivered_at): transformation
import pandas as pd
import pyodbc

cnxn = pyodbc.connect("DSN=erp")
df = pd.read_sql("SELECT shipment_id, carrier, shipped_at, delivered_at FROM erp.shipments", cnxn)
df["days"] = (pd.to_datetime(df.delivered_at) - pd.to_datetime(df.shipped_at)).dt.days
df["days"] = df["days"].astype(float)
insert = "INSERT INTO dw.shipments (shipment_id, carrier, days) VALUES (?,?,?)"
crsr = cnxn.cursor()
crsr.executemany(insert, df[["shipment_id", "carrier", "days"]].values.tolist())
crsr.commit()
