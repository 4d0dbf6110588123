# lineage
# dw.product_suppliers = dbo.products: product_id, name as name_product, price
# dw.product_suppliers = dbo.suppliers: name as name_supplier, city
# dw.product_suppliers.* <- dbo.products.supplier_id, dbo.suppliers.supplier_id: join
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")

products = pd.read_sql("SELECT product_id, name, price, supplier_id FROM dbo.products", engine)
suppliers = pd.read_sql("SELECT supplier_id, name, city FROM dbo.suppliers", engine)

merged = pd.merge(
    products, suppliers, on="supplier_id", how="left", suffixes=("_product", "_supplier")
)
merged = merged.drop("supplier_id", axis=1)
merged.to_sql("product_suppliers", engine, schema="dw", if_exists="append", index=False)
