# lineage
# dw.stock_by_warehouse = dbo.stock: warehouse
# dw.stock_by_warehouse.total <- dbo.stock.on_hand: aggregation
# dw.stock_by_warehouse.* <- dbo.stock.warehouse: group by
# dw.stock_by_warehouse.* <- dbo.stock.reserved: filter
import sqlalchemy as sa

engine = sa.create_engine("mssql+pyodbc://wms")
meta = sa.MetaData()
stock = sa.Table(
    "stock", meta,
    sa.Column("warehouse", sa.String), sa.Column("on_hand", sa.Integer), sa.Column("reserved", sa.Integer),
    schema="dbo",
)
target = sa.Table(
    "stock_by_warehouse", meta,
    sa.Column("warehouse", sa.String), sa.Column("total", sa.Integer),
    schema="dw",
)
query = (
    sa.select(stock.c.warehouse, sa.func.sum(stock.c.on_hand).label("total"))
    .where(stock.c.reserved < 8)
    .group_by(stock.c.warehouse)
)
with engine.begin() as connection:
    connection.execute(target.insert().from_select(["warehouse", "total"], query))
