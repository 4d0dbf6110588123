select
    suppliers.supplier_id,
    suppliers.supplier_name,
    categories.category_name,
    count(*) as order_count,
    sum(orders.quantity) as pieces,
    cast(
        sum(orders.order_amount_eur / (1 + categories.vat_rate)) as decimal(12, 2)
    ) as net_revenue_eur,
    cast(
        sum(orders.order_amount_eur / (1 + categories.vat_rate))
        - sum(orders.quantity * products.purchase_price) as decimal(12, 2)
    ) as margin_eur
from {{ ref('orders') }} as orders
inner join {{ ref('stg_products') }} as products
    on orders.product_id = products.product_id
inner join {{ ref('stg_suppliers') }} as suppliers
    on products.supplier_id = suppliers.supplier_id
inner join {{ ref('product_categories') }} as categories
    on products.category_code = categories.category_code
where orders.status != 'returned'
group by suppliers.supplier_id, suppliers.supplier_name, categories.category_name
