select
    order_id,
    customer_id,
    product_id,
    quantity,
    currency,
    status,
    ordered_at,
    cast(quantity * unit_price as decimal(12, 2)) as order_amount,
    status = 'cancelled' as is_cancelled
from {{ source('raw', 'orders') }}
