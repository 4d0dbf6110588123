select
    customer_id,
    concat(first_name, ' ', last_name) as customer_name,
    country,
    signed_up_on,
    newsletter as has_newsletter
from {{ source('raw', 'customers') }}
