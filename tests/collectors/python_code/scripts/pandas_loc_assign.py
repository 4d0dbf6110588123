# lineage
# dw.stock_state = dbo.stock: warehouse, product_id
# dw.stock_state.free <- dbo.stock.(on_hand, reserved): transformation
# dw.stock_state.free <- dbo.stock.(on_hand, reserved): conditional
# dw.stock_state.state <- dbo.stock.(on_hand, reserved): conditional
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://wms")
s = pd.read_sql("SELECT warehouse, product_id, on_hand, reserved FROM dbo.stock", engine)
s["free"] = s["on_hand"] - s["reserved"]
s["state"] = "ok"
s.loc[s["free"] < 5, "state"] = "low"
s.loc[s["free"] <= 0, "state"] = "empty"
s.loc[s.free < 0, "free"] = 0
s = s.loc[:, ["warehouse", "product_id", "free", "state"]]
s.to_sql("stock_state", engine, schema="dw", if_exists="replace", index=False)
