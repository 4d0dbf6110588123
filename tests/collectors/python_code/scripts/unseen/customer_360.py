# lineage
# mart.customer_360.customer_id <- dbo.customers.customer_id: identity
# mart.customer_360 = dbo.customers: segment
# mart.customer_360.full_name <- dbo.customers.(first_name, last_name): transformation
# mart.customer_360.order_count <- dbo.orders.order_id: aggregation (unseen: ids stay distinct)
# mart.customer_360.revenue <- dbo.orders.(quantity, unit_price): aggregation
# mart.customer_360.last_order <- dbo.orders.ordered_at: aggregation
# mart.customer_360.is_top <- dbo.orders.(quantity, unit_price): aggregation
# mart.customer_360.* <- dbo.customers.customer_id, dbo.orders.customer_id: join
# mart.customer_360.* <- dbo.orders.customer_id: group by
# mart.customer_360.* <- dbo.orders.status: filter
from functools import reduce

import pandas as pd
from sqlalchemy import create_engine


def load_customers(engine):
    df = pd.read_sql("SELECT customer_id, first_name, last_name, segment FROM dbo.customers", engine)
    df["full_name"] = df[["first_name", "last_name"]].agg(" ".join, axis=1)
    return df.drop(columns=["first_name", "last_name"])


def load_orders(engine):
    df = pd.read_sql(
        "SELECT order_id, customer_id, quantity, unit_price, ordered_at FROM dbo.orders WHERE status <> 'cancelled'",
        engine,
    )
    df["value"] = df.quantity * df.unit_price
    per = df.groupby("customer_id", as_index=False)
    counts = per.order_id.nunique().rename(columns={"order_id": "order_count"})
    sums = per["value"].sum().rename(columns={"value": "revenue"})
    last = per["ordered_at"].max().rename(columns={"ordered_at": "last_order"})
    return reduce(lambda left, right: left.merge(right, on="customer_id"), [counts, sums, last])


engine = create_engine("mssql+pyodbc://dwh")
result = load_customers(engine).merge(load_orders(engine), on="customer_id", how="left")
result["revenue"] = result["revenue"].fillna(0)
result["is_top"] = result["revenue"] > 500
result.to_sql("customer_360", engine, schema="mart", if_exists="replace", index=False)
