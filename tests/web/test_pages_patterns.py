"""The drawings of the page Patterns."""


def test_every_tree_is_drawn_and_written():
    from datamorphic.relations.patterns.catalogue import patterns
    from datamorphic.web.pages.patterns import _list_trees

    trees = _list_trees()
    assert [root for root, *_ in trees][:2] == ["Symmetry", "Sets"]
    members = set()
    for root, _, drawing, text in trees:
        assert drawing.startswith("<svg")
        assert text.startswith(root)
        members |= {name for name in patterns if name in text}
    assert set(patterns) - members <= set(patterns.roots)
