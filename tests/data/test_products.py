"""The product catalogue and its queries."""

from __future__ import annotations

import pytest

import datamorphic as dm
from datamorphic.data.products import (
    list_product_phrases,
    make_product_queries,
    make_products,
    read_product_kinds,
    read_words,
)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_seed_decides_the_catalogue(language):
    first, again, other = (make_products(200, language, seed) for seed in (0, 0, 1))
    assert first.equals(again)
    assert not first.equals(other)
    assert make_products(300, language).head(200)["department"].isin(read_words().departments[language].values()).all()
    assert first["id"].is_unique
    assert (first["price"] > 0).all()
    assert set(first["department"]) == set(read_words().departments[language].values())


def test_sellers_write_in_several_ways():
    titles = " | ".join(make_products(600)["title"])
    for text in ("Men's", "for men", "Mens ", "for gentlemen", "unisex", "Women's"):
        assert text in titles
    chinese = " | ".join(make_products(600, "zh")["title"])
    for text in ("男士", "女款", "男女通用"):
        assert text in chinese


@pytest.mark.parametrize("language", ["en", "zh"])
def test_there_are_enough_queries_for_the_tables(language):
    queries = make_product_queries(2621, language)
    assert queries["query"].is_unique
    assert queries["department"].unique().tolist() == ["All Departments"]
    kinds = read_product_kinds()
    assert len(kinds) == len(set(kinds)) == len({kind.chinese for kind in kinds})
    assert make_product_queries(10, language)["query"].tolist() == queries["query"].head(10).tolist()
    for relation in dm.relations.search_relations(language).values():
        assert relation.applies(queries).all()


def test_wrong_parameters_are_rejected():
    for call in (
        lambda: make_products(0),
        lambda: make_products(5, "de"),
        lambda: make_product_queries(2 * len(list_product_phrases()) + 1),
        lambda: make_product_queries(5, "fr"),
    ):
        with pytest.raises(dm.errors.ArgumentError):
            call()
