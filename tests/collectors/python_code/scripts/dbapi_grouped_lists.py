# lineage
# mart.ratings_by_city = dbo.suppliers: city
# mart.ratings_by_city.mean <- dbo.suppliers.rating: aggregation
# mart.ratings_by_city.suppliers <- nothing
# mart.ratings_by_city.* <- dbo.suppliers.city: group by
from collections import defaultdict

import pyodbc

conn = pyodbc.connect("DSN=shop")
cursor = conn.cursor()
ratings = defaultdict(list)
for row in cursor.execute("SELECT city, rating FROM dbo.suppliers").fetchall():
    ratings[row.city].append(row.rating)
cursor.executemany(
    "INSERT INTO mart.ratings_by_city (city, mean, suppliers) VALUES (?, ?, ?)",
    [(city, sum(values) / len(values), len(values)) for city, values in ratings.items()],
)
conn.commit()
