# lineage
# dw.order_suppliers = dbo.orders: order_id
# dw.order_suppliers = dbo.products: sku
# dw.order_suppliers.value <- dbo.orders.(quantity, unit_price): transformation
# dw.order_suppliers.* <- dbo.orders.product_id, dbo.products.product_id: join
# dw.order_suppliers.* <- dbo.products.is_sold: filter
# dw.order_suppliers.* <- dbo.orders.order_id: sort
import sqlalchemy as sa

engine = sa.create_engine("mssql+pyodbc://shop")
metadata = sa.MetaData()
orders = sa.Table("orders", metadata, sa.Column("order_id"), sa.Column("product_id"), sa.Column("quantity"), sa.Column("unit_price"), schema="dbo")
products = sa.Table("products", metadata, sa.Column("product_id"), sa.Column("sku"), sa.Column("is_sold"), schema="dbo")

statement = (
    sa.select(orders.c.order_id, products.c.sku, (orders.c.quantity * orders.c.unit_price).label("value"))
    .select_from(orders.join(products, orders.c.product_id == products.c.product_id))
    .where(products.c.is_sold == 1)
    .order_by(orders.c.order_id)
)
with engine.begin() as conn:
    found = conn.execute(statement).fetchall()
    conn.execute(
        sa.text("INSERT INTO dw.order_suppliers (order_id, sku, value) VALUES (:o, :s, :v)"),
        [{"o": row.order_id, "s": row.sku, "v": row.value} for row in found],
    )
