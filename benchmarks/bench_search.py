"""Search engines: 20,000 products in memory, queries per second, and the relations through dm.check, one core."""

from __future__ import annotations

import time

import datamorphic as dm
from benchmarks.timing import line, seconds

PRODUCTS, QUERIES = 20_000, 500


def main():
    for language in ("en", "zh"):
        documents = dm.data.make_products(PRODUCTS, language)
        cases = dm.data.make_product_queries(QUERIES, language)
        relations = dm.relations.search_relations(language)
        for kind in (dm.systems.SqliteSearch, dm.systems.TantivySearch):
            engine = kind(documents, language=language)
            began = time.perf_counter()
            engine.start()
            built = time.perf_counter() - began
            took = seconds(lambda engine=engine, cases=cases: engine.execute(cases))
            name = f"{engine.name}, {'English' if language == 'en' else 'Chinese'}"
            line(name, f"{QUERIES / took:,.0f} q/s", f"index of {PRODUCTS:,} products built in {built:.1f} s")
            began = time.perf_counter()
            report = dm.check(engine, cases, relations, inputs=QUERIES, shrink=False, progress=False)
            took = time.perf_counter() - began
            line(f"{name}: four relations", f"{took:.2f} s", f"{report.runs / took:,.0f} q/s through dm.check")
            engine.close()


if __name__ == "__main__":
    main()
