# lineage
# dw.suppliers = dbo.suppliers: supplier_id, name as title
# dw.suppliers.phone <- dbo.suppliers.phone: transformation
# dw.suppliers.* <- dbo.suppliers.rating: filter
import pymssql

conn = pymssql.connect(server="sql1", user="loader", password="x", database="shop")
cursor = conn.cursor(as_dict=True)
cursor.execute("SELECT supplier_id, name, phone, rating FROM dbo.suppliers")

values = []
for row in cursor:
    if row["rating"] > 2:
        phone = row["phone"].replace(" ", "")
        values.append((row["supplier_id"], row["name"], phone))

with conn.cursor() as writer:
    writer.executemany("INSERT INTO dw.suppliers (supplier_id, title, phone) VALUES (%s, %s, %s)", values)
conn.commit()
