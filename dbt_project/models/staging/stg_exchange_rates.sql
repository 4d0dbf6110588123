select
    currency,
    month as rate_month,
    rate_to_eur
from {{ source('raw', 'exchange_rates') }}
