# lineage
# mart.stock_matrix = dbo.stock: product_id
# mart.stock_matrix.* ? the columns are the values of warehouse
# mart.stock_matrix.* <- dbo.stock.product_id: group by
# mart.stock_matrix.* <~ dbo.stock.on_hand: aggregation
# mart.stock_matrix.* <~ dbo.stock.warehouse: conditional
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://wms")
stock = pd.read_sql("SELECT product_id, warehouse, on_hand FROM dbo.stock", engine)
matrix = stock.pivot_table(index="product_id", columns="warehouse", values="on_hand")  # gap
matrix.reset_index().to_sql("stock_matrix", engine, schema="mart", if_exists="replace", index=False)  # gap
