# lineage
# mart.supplier_scorecard = dbo.suppliers: supplier_id, name
# mart.supplier_scorecard.articles <- dbo.products.product_id: aggregation (unseen: it counts)
# mart.supplier_scorecard.mean_margin <- dbo.products.(price, cost): aggregation
# mart.supplier_scorecard.grade <- dbo.suppliers.rating: transformation
# mart.supplier_scorecard.* <- dbo.suppliers.supplier_id, dbo.products.supplier_id: join
# mart.supplier_scorecard.* <- dbo.products.supplier_id: group by
import pandas as pd
import sqlalchemy

GRADES = {1: "E", 2: "D", 3: "C", 4: "B", 5: "A", 6: "A+"}
engine = sqlalchemy.create_engine("mssql+pyodbc://shop")

with engine.connect() as con:
    suppliers = pd.read_sql("SELECT supplier_id, name, rating FROM dbo.suppliers", con)
    products = pd.read_sql("SELECT product_id, supplier_id, price, cost FROM dbo.products", con)

products["margin"] = (products["price"] - products["cost"]) / products["price"]
per_supplier = (
    products.groupby("supplier_id")
    .agg({"product_id": "count", "margin": "mean"})
    .rename(columns={"product_id": "articles", "margin": "mean_margin"})
)
card = suppliers.merge(per_supplier, left_on="supplier_id", right_index=True)
card["grade"] = card["rating"].map(GRADES)
card = card.drop(columns="rating")
card.to_sql("supplier_scorecard", engine, schema="mart", if_exists="replace", index=False)
