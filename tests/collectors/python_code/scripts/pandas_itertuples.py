# lineage
# dw.stock_value = dbo.stock: warehouse
# dw.stock_value = dbo.products: sku
# dw.stock_value.value <- dbo.stock.on_hand, dbo.products.cost: transformation
# dw.stock_value.* <- dbo.stock.product_id, dbo.products.product_id: join
# dw.stock_value.* <- dbo.stock.on_hand: filter
import pandas as pd
import pyodbc

conn = pyodbc.connect("DRIVER={ODBC Driver 18 for SQL Server};SERVER=wms;DATABASE=shop;Trusted_Connection=yes")
df = pd.read_sql(
    """SELECT s.warehouse, p.sku, s.on_hand, p.cost
       FROM dbo.stock s INNER JOIN dbo.products p ON p.product_id = s.product_id""",
    conn,
)
cursor = conn.cursor()
for row in df.itertuples(index=False):
    if row.on_hand <= 3:
        continue
    cursor.execute(
        "INSERT INTO dw.stock_value (warehouse, sku, value) VALUES (?, ?, ?)",
        row.warehouse, row.sku, row.on_hand * row.cost,
    )
conn.commit()
