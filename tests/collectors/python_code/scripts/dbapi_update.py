# lineage
# exists dw.article(product_id, sku, price, changed_by)
# dw.article = dbo.prices: net as price
# dw.article.changed_by <- nothing
# dw.article.* <- dbo.prices.product_id: filter
import pyodbc

conn = pyodbc.connect("DSN=shop")
cur = conn.cursor()
cur.execute("SELECT product_id, net FROM dbo.prices")
updates = [(net, "price job", product_id) for product_id, net in cur.fetchall()]
cur.executemany("UPDATE dw.article SET price = ?, changed_by = ? WHERE product_id = ?", updates)
conn.commit()
