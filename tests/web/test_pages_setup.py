"""What the page Set-up asks of the command ``laws``."""

from datamorphic.web.subject import ChosenSubject


def test_the_laws_of_a_model_are_those_of_its_data():
    from datamorphic.web.pages.setup import list_law_arguments

    subject = ChosenSubject(
        kind="files", model="/m.skops", data="/d.csv", target="y", hints={"bounds": {"age": "1:2"}, "order": {}}
    )
    assert list_law_arguments(subject) == ["--data=/d.csv", "--target=y", "--bounds=age=1:2"]
    module = ChosenSubject(kind="module", model="wine:RedWine")
    assert list_law_arguments(module) == ["wine:RedWine"]


def test_the_page_says_what_the_laws_of_a_model_file_do_not_try():
    from datamorphic.web.pages.setup import describe_laws

    texts = describe_laws(ChosenSubject(kind="files", name="m.skops", model="/m.skops", data="/x/d.csv"))
    assert "read from d.csv" in texts[1]
    assert "does not query m.skops" in texts[2]
    assert len(describe_laws(ChosenSubject.of_demo("Box 2"))) == 1
