# lineage
# dw.product_words = dbo.products: product_id
# dw.product_words.word <- dbo.products.name: transformation
# dw.product_words.* <- dbo.products.name: filter
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")
p = pd.read_sql("SELECT product_id, name FROM dbo.products", engine)
p["word"] = p["name"].str.lower().str.split("a")
words = p.explode("word").drop(columns=["name"])
words = words[words["word"].str.len() > 1]
words.to_sql("product_words", engine, schema="dw", if_exists="replace", index=False)
