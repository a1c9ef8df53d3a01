"""A product search: nobody knows how many hits are right, but a filter must not find more, and word order should not matter.

Run it with: python examples/shop_search.py
"""

from __future__ import annotations

import datamorphic as dm

products = dm.data.make_products(2_000)
queries = dm.data.make_product_queries(30)

with dm.systems.SqliteSearch(products) as engine:
    for query in ("women's sweaters", "sweaters for women"):
        print(f"{query}: {engine.search(query)['hits']} hits")
    report = dm.check(engine, queries, dm.relations.search_relations())

print()
print(report.describe())
assert report.passed  # another sorting rule finds as many products
