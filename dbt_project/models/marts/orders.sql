with orders as (
    select * from {{ ref('stg_orders') }}
),

payments as (
    select * from {{ ref('stg_payments') }}
),

rates as (
    select * from {{ ref('stg_exchange_rates') }}
)

select
    orders.order_id,
    orders.customer_id,
    orders.product_id,
    orders.quantity,
    orders.status,
    orders.ordered_at,
    {{ to_eur('orders.order_amount', 'rates.rate_to_eur') }} as order_amount_eur,
    {{ to_eur('coalesce(payments.paid_amount, 0)', 'rates.rate_to_eur') }} as paid_amount_eur,
    coalesce(payments.paid_amount, 0) >= orders.order_amount as is_paid
from orders
inner join rates
    on orders.currency = rates.currency
    and trunc(orders.ordered_at, 'MM') = rates.rate_month
left join payments
    on orders.order_id = payments.order_id
where not orders.is_cancelled
