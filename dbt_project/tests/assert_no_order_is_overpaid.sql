-- A cent of rounding is allowed.
select order_id
from {{ ref('orders') }}
where paid_amount_eur > order_amount_eur + 0.01
