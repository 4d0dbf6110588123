# lineage
# dw.top_suppliers = dbo.suppliers: name
# dw.top_suppliers.products <- nothing
# dw.top_suppliers.* <- dbo.suppliers.supplier_id, dbo.products.supplier_id: join
# dw.top_suppliers.* <- dbo.suppliers.name: group by
import pyodbc


def run(sql):
    with pyodbc.connect("DSN=shop") as conn:
        conn.cursor().execute(sql)
        conn.commit()


run("""
    INSERT INTO dw.top_suppliers (name, products)
    SELECT s.name, COUNT(*)
    FROM dbo.suppliers s
    JOIN dbo.products p ON p.supplier_id = s.supplier_id
    GROUP BY s.name
""")
