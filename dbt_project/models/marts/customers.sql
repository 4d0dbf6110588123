with customers as (
    select * from {{ ref('stg_customers') }}
),

orders as (
    select
        customer_id,
        count(*) as order_count,
        sum(order_amount_eur) as lifetime_value_eur,
        min(ordered_at) as first_order_at,
        max(ordered_at) as last_order_at
    from {{ ref('orders') }}
    group by customer_id
)

select
    customers.customer_id,
    customers.country,
    customers.signed_up_on,
    customers.has_newsletter,
    coalesce(orders.order_count, 0) as order_count,
    coalesce(orders.lifetime_value_eur, 0) as lifetime_value_eur,
    orders.first_order_at,
    orders.last_order_at
from customers
left join orders
    on customers.customer_id = orders.customer_id
