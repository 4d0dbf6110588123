{% macro to_eur(amount, rate) -%}
    cast({{ amount }} * {{ rate }} as decimal(12, 2))
{%- endmacro %}
