select
    order_id,
    sum(amount) as paid_amount,
    count(*) as instalments,
    max(paid_at) as last_paid_at
from {{ source('raw', 'payments') }}
group by order_id
