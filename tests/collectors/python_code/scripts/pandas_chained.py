# lineage
# mart.monthly.month <- dbo.orders.ordered_at: transformation
# mart.monthly = dbo.orders: country
# mart.monthly.revenue <- dbo.orders.(quantity, unit_price): aggregation
# mart.monthly.orders <- nothing
# mart.monthly.* <- dbo.orders.status: filter
# mart.monthly.* <- dbo.orders.(ordered_at, country): group by
# mart.monthly.* <- dbo.orders.(quantity, unit_price): sort
import pandas as pd
from sqlalchemy import create_engine

engine = create_engine("mssql+pyodbc://shop")

(
    pd.read_sql("SELECT * FROM dbo.orders", engine)
    .loc[lambda d: d["status"].isin(["paid", "shipped"])]
    .assign(
        month=lambda d: pd.to_datetime(d["ordered_at"]).dt.strftime("%Y-%m"),
        amount=lambda d: d["quantity"] * d["unit_price"],
    )
    .groupby(["month", "country"], as_index=False)
    .agg(revenue=("amount", "sum"), orders=("month", "size"))
    .sort_values("revenue", ascending=False)
    .to_sql("monthly", engine, schema="mart", if_exists="replace", index=False)
)
