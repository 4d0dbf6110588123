# lineage
# dw.product_prices = dbo.products: product_id, sku
# dw.product_prices.gross <- dbo.products.price: transformation
import pyodbc

src = pyodbc.connect("DSN=shop")
cur = src.cursor()
cur.execute("SELECT product_id, sku, price FROM dbo.products")
rows = cur.fetchall()

data = [(r[0], r[1], round(r[2] * 1.19, 2)) for r in rows]

dst = pyodbc.connect("DSN=dwh")
out = dst.cursor()
out.fast_executemany = True
out.executemany("INSERT INTO dw.product_prices (product_id, sku, gross) VALUES (?, ?, ?)", data)
dst.commit()
src.close()
dst.close()
