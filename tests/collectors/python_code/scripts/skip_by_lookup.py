# lineage
# dw.tagged_products = dbo.products: product_id
# dw.tagged_products.tag <- dbo.products.category: transformation
# dw.tagged_products.tag <~ dbo.products.category: conditional
# dw.tagged_products.* <- dbo.products.category: filter
import json
from pathlib import Path

import pyodbc


def wanted_tags(text):
    wanted = {}
    for word in json.loads(text):
        wanted[word["name"]] = word["tag"]
    return wanted


TAGS = '[{"name": "toy", "tag": "T"}, {"name": "gift", "tag": "G"}]'
wanted = wanted_tags(TAGS)
conn = pyodbc.connect("DSN=shop")
updates = []
for row in conn.execute("SELECT product_id, category FROM dbo.products").fetchall():
    tag = wanted.get(row.category.lower())
    if not tag:
        continue
    updates.append((row.product_id, tag))
conn.cursor().executemany("INSERT INTO dw.tagged_products (product_id, tag) VALUES (?, ?)", updates)
conn.commit()
