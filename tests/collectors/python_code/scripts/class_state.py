# lineage
# dw.supplier_rating = dbo.suppliers: supplier_id, city
# dw.supplier_rating.stars <- dbo.suppliers.rating: transformation
# dw.supplier_rating.* <- dbo.suppliers.rating: filter
import pandas as pd
from sqlalchemy import create_engine


class SupplierJob:
    target = "supplier_rating"

    def __init__(self, dsn, minimum=2):
        self.engine = create_engine(dsn)
        self.minimum = minimum
        self.data = None

    def extract(self):
        self.data = pd.read_sql("SELECT supplier_id, city, rating FROM dbo.suppliers", self.engine)
        return self

    def transform(self):
        df = self.data
        df = df[df.rating >= self.minimum]
        self.data = df.assign(stars=(df.rating / 2).round()).drop(columns=["rating"])
        return self

    def load(self):
        self.data.to_sql(self.target, self.engine, schema="dw", if_exists="append", index=False)


if __name__ == "__main__":
    SupplierJob("mssql+pyodbc://shop").extract().transform().load()
