# lineage
# dw.order_lines = dbo.orders: order_id, quantity
# dw.order_lines.gross <- dbo.orders.(quantity, unit_price): transformation
# dw.order_lines.net <- dbo.orders.(quantity, unit_price, discount): transformation
# dw.order_lines.net_rounded <- dbo.orders.(quantity, unit_price, discount): transformation
# dw.order_lines.source <- nothing
import pandas as pd
import sqlalchemy as sa

QUERY = """
SELECT order_id, quantity, unit_price, discount
FROM dbo.orders
"""

conn = sa.create_engine("mssql+pyodbc:///?odbc_connect=...")
orders = pd.read_sql_query(QUERY, con=conn)
orders["gross"] = orders["quantity"] * orders["unit_price"]
orders["net"] = orders.gross * (1 - orders.discount)
orders["net_rounded"] = orders["net"].round(2)
orders["source"] = "shop"
orders = orders.drop(columns=["unit_price", "discount"])
orders.to_sql("order_lines", conn, schema="dw", if_exists="replace", index=False)
