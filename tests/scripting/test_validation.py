"""Scripts are checked before anything runs: names, files, repetitions, and hostile ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import pytest

import datamorphic as dm
from datamorphic.errors import ScriptError, UsageError
from datamorphic.scripting.commands import COMMANDS
from datamorphic.scripting.folder import ScriptFolder
from datamorphic.scripting.specs import ScriptSystem, SpecMap, get_spec_name, to_script_system
from datamorphic.scripting.validation import MAX_COMMANDS, plan_script
from datamorphic.synthesis.combination.chains import MAX_ORDER

BOX = ScriptSystem(spec="Box 1", system=dm.subjects["Box 1"])


@pytest.fixture
def folder(tmp_path):
    """A folder for scripts in a folder with a secret beside it."""
    (tmp_path / "secret.txt").write_text("secret\n")
    (tmp_path / "scripts").mkdir()
    return tmp_path / "scripts"


def check(folder, text, name="a.scr", system=BOX, **options):
    (folder / name).write_text(text, newline="")
    return plan_script(folder / name, system, **options)


def refuse(folder, text, **options):
    """Return the error about a script, and assert that nothing was written."""
    before = sorted((path, path.lstat().st_size) for path in folder.parent.rglob("*") if path.name != "a.scr")
    with pytest.raises(ScriptError) as caught:
        check(folder, text, **options)
    after = sorted((path, path.lstat().st_size) for path in folder.parent.rglob("*") if path.name != "a.scr")
    assert before == after
    return caught.value


# -- what is accepted ---------------------------------------------------------------------------------------------


def test_a_plan_knows_commands_and_files(folder):
    (folder / "once.scr").write_text(
        "makeSeed([RandomValue200])\nrandomTargetExplore(10,mid)\nanalyse([saveStatistics])\n"
    )
    (folder / "cases.csv").write_text("x,y\n1,2\n")
    plan = check(
        folder,
        "repeat(3)\nrepeat(2)\nplayTestScript(once.scr)\nendRepeat()\nendRepeat()\nloadTestResults(cases.csv)\n"
        "saveTestResult(out.csv)\nloadTestSet(out.csv)\n",
    )
    assert plan.commands == 3 * 2 * 3 + 3
    assert {path.name for path in plan.inputs} == {"cases.csv"}
    assert {path.name for path in plan.outputs} == {"ExpDataFile.csv", "out.csv"}


def test_statistics_go_to_the_file_of_the_last_message(folder):
    plan = check(folder, "saveMessage(sub/figures.csv;Box)\nanalyse([saveStatistics])\n")
    assert plan.outputs == {folder / "sub" / "figures.csv"}
    plan = check(folder, "setFilePath(data)\nanalyse([saveStatistics])\n")
    assert plan.outputs == {folder / "data" / "ExpDataFile.csv"}


def test_every_command_has_a_method_and_a_place_in_the_guide():
    guide = Path(__file__).parents[2].joinpath("docs/guides/scripts.md").read_text()
    for command in COMMANDS.values():
        assert f"{command.name}" in guide, command.name
        assert command.summary
        if command.method:
            assert callable(getattr(dm.TestPool, command.method)), command.name


def test_names_match_in_any_style_and_those_of_every_test_system_exist(folder):
    check(
        folder,
        "makeSeed([random_value_50, ResetTestSuite, Select100RandomTestCases, RandomValues])\n"
        "directedWalkExplore([UPWARD, Mid])\nrandomWalkExplore([ALL];20;10)\nrandomTargetExplore(5)\n"
        "analyse([save_statistics, viewStatistics, saveMessageHead, saveMessageNL, stop_Invoker, getTime])\n"
        "measureTestSet([AvgDistance, StdDistance])\ntestSetFilter([sparse])\ntestCaseFilter(TooClose)\n",
    )


def test_strategies_that_make_new_cases_are_commands(folder):
    check(
        folder,
        'makeMutants1stOrderComplete([upward, mid])\npermutationComplete([RandomValue5];[upward, leftward];[sparse];"";50)\n'
        "kOrderComplete(2;[];[ALL])\nGAOptimizeFilter([ALL];[AvgDistance, border_coverage];10;0.5;0.2;0.001)\n"
        'GAOptimizeStrongestMutant([upward, mid];"";5)\n',
    )
    assert "Did you mean 'border_coverage'?" in str(refuse(folder, "GAOptimizeFilter([ALL];[border_cover])"))
    assert "must be a number" in str(refuse(folder, "GAOptimizeFilter([ALL];[AvgDistance];5;half)"))


def test_spec_files_stand_for_subjects(folder):
    text = "".join(
        f"loadTestSpec(file:C:\\Users\\x\\bin\\{name}.class)\nmakeSeed([RandomValue200])\n"
        for name in ("BoxTest1", "BoxTest2", "CircleTest2", "LineTest1", "SinTest2", "TriTest1", "TriTest2")
    )
    plan = check(folder, text, system=None)
    assert plan.specs.find("TriTest2.class").system.name == "Triangle 2"
    assert get_spec_name("examples/SinTest2.java") == "SinTest2"


def test_a_map_names_other_test_systems(folder):
    class Line:
        space = dm.Space([dm.Continuous("x", 0, 1, step=0.1)])
        models: ClassVar = {"steep": lambda: None}

        @dm.executor
        def classify(self, p):
            return p.x > 0.5

    plan = check(
        folder,
        "loadTestSpec(bin/MyTest.class)\nanalyse([start_steep_Invoker])\ndirectedWalkExplore([x_up, mid])\n",
        system=None,
        specs=SpecMap({"MyTest.class": Line}),
    )
    assert plan.commands == 3
    assert to_script_system(Line).spec == "Line"


# -- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("clean()\nmakeSeeds([a])", (2, 1), "Did you mean 'makeSeed'?"),
        ("playTestscipt(b.scr)", (1, 1), "Did you mean 'playTestScript'?"),
        ("os.system(rm)", (1, 3), "Expected ( after os"),
        ("eval(1)", (1, 1), "There is no command 'eval'"),
        ("makeSeed([RandomValue])", (1, 11), "no seed maker named 'RandomValue'"),
        ("makeSeed([RandomValue999999999])", (1, 11), "At most 10,000,000 are made"),
        ("randomTargetExplore(ten,mid)", (1, 21), "must be a whole number"),
        ("explore(walk=5)", (1, 9), "Did you mean 'walks'?"),
        ("explore(walks=many)", (1, 9), "must be a whole number"),
        ('explore(walks=5;"moves=upward, dwnward")', (1, 17), "Did you mean 'downward'?"),
        ("combine(strategy)", (1, 9), "Write strategy=value"),
        ("explore(strategy=fly)", (1, 1), "must be one of 'random_target'"),
        ("explore(seed=-1)", (1, 1), "'seed' parameter of explore"),
        ("combine(order=3)", (1, 1), "Only kOrderComplete has an order"),
        ("optimise(metric=border_cover)", (1, 10), "Did you mean 'border_coverage'?"),
        ("combine(filters=sparse)", (1, 9), "Use testSetFilter([sparse])"),
        ("explore(moves=mid)", (1, 9), "needs at least one move"),
        ("optimise(steps=0)", (1, 1), "'max_cycles' parameter of optimise"),
        ("explore(walks=1;walks=2)", (1, 1), "is given twice"),
        ("combine(budget=soon)", (1, 1), "budget"),
        ("optimise(tolerance=small)", (1, 10), "must be a number"),
        ("optimise(batch=5)", (1, 10), "has no option 'batch'"),
        ("saveTestResult(cases.xyz)", (1, 16), "Known extensions"),
        ("randomTargetExplore(0,mid)", (1, 21), "must be from 1 to"),
        ("randomTargetExplore(10,upward)", (1, 24), "'upward' is a move"),
        ("randomTargetExplore(10,middle)", (1, 24), "Did you mean 'mid'?"),
        ("directedWalkExplore([upward, dwnward, mid])", (1, 30), "Did you mean 'downward'?"),
        ("directedWalkExplore([mid])", (1, 21), "needs at least one move"),
        ("randomWalkExplore([upward, mid];20)", (1, 1), "Got 2 arguments"),
        ("clean(1)", (1, 7), "Expected clean(). Got 1 argument"),
        ("analyse([saveStatistic])", (1, 10), "Did you mean 'saveStatistics'?"),
        ("analyse([start_DT_Invoker])", (1, 10), "has no models"),
        ("checkMetamorphisms([x])", (1, 21), "has no metamorphism at all"),
        ("loadTestSpec(HexagonTest.class)", (1, 14), "--map HexagonTest=module:Class"),
        ("repeat(2)\nclean()", (1, 1), "Add endRepeat()"),
        ("endRepeat()", (1, 1), "has no repeat(n) before it"),
        ("repeat(10000000000)\nclean()\nendRepeat()", (1, 8), "must be from 0 to 100,000"),
        (
            "repeat(1000)\nrepeat(1000)\nclean()\nendRepeat()\nendRepeat()",
            (1, 1),
            f"more than {MAX_COMMANDS:,} commands",
        ),
        ("repeat(1)\n" * 40 + "endRepeat()\n" * 40, (17, 1), "nested more than 16 deep"),
        ("loadTestSet(nowhere.tcs)", (1, 13), "There is no file 'nowhere.tcs'"),
        ("kOrderComplete(101;[RandomValue5];[ALL])", (1, 16), "must be from 1 to 100"),
        ("makeSeed([RandomValue5])\nsaveTestResult(a.pkl)", (2, 16), "Known extensions: .parquet, .csv, .tcs"),
        (f"saveMessage(new/{'a' * 300};x)", (1, 13), "has at most 255 bytes"),
        ("saveMessage(a.scr;x)", (1, 13), "is a script that is being played"),
        ("makeSeed([RandomValue5)", (1, 23), "cannot stand here"),
        (
            "saveMessage(conftest.py;import os)",
            (1, 13),
            "do not write 'conftest.py'. Choose a name that ends in .scr, .csv",
        ),
        ("saveMessage(Makefile;all:)", (1, 13), "do not write 'Makefile'"),
        ("saveMessage(.profile;rm)", (1, 13), "do not write '.profile'"),
        ("saveTestScript(conftest.py)", (1, 16), "do not write 'conftest.py'"),
    ],
)
def test_wrong_scripts_are_refused_with_the_place(folder, text, place, message):
    error = refuse(folder, text)
    assert (error.line, error.column) == place
    assert message in str(error)


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "C:\\Windows\\x.scr",
        "..\\secret.txt",
        "~/x",
        "file:///etc/passwd",
        "link.txt",
        "loop/x",
        "",
        "..",
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        "playTestScript({})",
        "loadTestSet({})",
        "saveMessage({};x)",
        "saveTestResult({})",
        "setFilePath({})",
        "saveTestScript({})",
    ],
)
def test_nothing_outside_the_folder_is_read_or_written(folder, command, path):
    (folder / "link.txt").symlink_to("../secret.txt")
    (folder / "loop").symlink_to("..")
    error = refuse(folder, f"clean()\n{command.format(path or chr(34) * 2)}")
    assert error.line == 2
    assert error.column >= 1


def test_a_script_that_plays_itself_is_refused(folder):
    assert "a.scr plays a.scr" in str(refuse(folder, "clean()\nplayTestScript(a.scr)"))
    (folder / "b.scr").write_text("playTestScript(c.scr)\n")
    (folder / "c.scr").write_text("playTestScript(a.scr)\n")
    error = refuse(folder, "playTestScript(b.scr)")
    assert "a.scr plays b.scr plays c.scr plays a.scr" in str(error)
    assert (error.file, error.line, error.column) == ("c.scr", 1, 16)


def test_scripts_that_multiply_are_counted_not_expanded(folder):
    for level in range(12):
        (folder / f"s{level}.scr").write_text(f"playTestScript(s{level + 1}.scr)\n" * 10)
    (folder / "s12.scr").write_text("clean()\n")
    assert "commands up to here" in str(refuse(folder, "playTestScript(s0.scr)"))


def test_scripts_nest_to_a_limit(folder):
    for level in range(20):
        (folder / f"s{level}.scr").write_text(f"playTestScript(s{level + 1}.scr)\n")
    (folder / "s20.scr").write_text("clean()\n")
    assert "more than 16 deep" in str(refuse(folder, "playTestScript(s0.scr)"))


def test_scripts_that_were_checked_before_still_count_as_nested(folder):
    for level in range(20):
        (folder / f"s{level}.scr").write_text(f"playTestScript(s{level + 1}.scr)\n")
    (folder / "s20.scr").write_text("clean()\n")
    text = "".join(f"playTestScript(s{level}.scr)\n" for level in reversed(range(21)))
    assert "more than 16 deep" in str(refuse(folder, text))


def test_every_repetition_is_checked_if_the_folder_of_scripts_changes(folder):
    for name, target in (("", "a"), ("a", "b"), ("b", "c")):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "x.scr").write_text(f"clean()\nsetTestScriptPath({target})\n")
    text = "repeat({})\nplayTestScript(x.scr)\nendRepeat()\n"
    plan = check(folder, text.format(3))
    assert plan.commands == 6
    assert folder / "b" / "x.scr" in plan.scripts
    assert "There is no file 'x.scr'" in str(refuse(folder, text.format(4)))
    (folder / "b" / "x.scr").write_text("setTestScriptPath(a)\n")
    assert check(folder, text.format(10_000)).commands == 2 + 5_000 * 2 + 4_999


def test_files_that_are_not_scripts_are_refused(folder):
    (folder / "big.scr").write_bytes(os.urandom(1000) * 10_000)
    (folder / "binary.scr").write_bytes(b"clean()\nmake\xff")
    os.mkfifo(folder / "pipe.scr")
    for name, message in [
        ("big.scr", "10,000,000 bytes"),
        ("binary.scr", "binary.scr:2:5: The byte 0xff"),
        ("pipe.scr", "not a regular file"),
    ]:
        assert message in str(refuse(folder, f"playTestScript({name})"))
    with pytest.raises(ScriptError, match="not a regular file"):
        plan_script(folder / "pipe.scr")
    with pytest.raises(UsageError, match="cannot be read"):
        plan_script(folder / "missing.scr")


def test_a_model_must_be_started_where_there_are_several(folder, real_data):
    real_data("red_wine")
    wine = to_script_system("RedWine_TestSpec.class")
    moves = "[volatileAcidityUp, sulphateslDown, pHUp, mid]"
    check(
        folder, f"analyse([start_DT_Invoker])\nmakeSeed([TrainingData])\nrandomWalkExplore({moves};20;5)\n", system=wine
    )
    error = refuse(
        folder, f"analyse([start_DT_Invoker])\nanalyse([stop_Invoker])\nrandomWalkExplore({moves};20;5)\n", system=wine
    )
    assert (error.line, "start_LR_Invoker" in str(error)) == (3, True)
    assert "no model .knn3. to start" in repr(refuse(folder, "analyse([start_KNN3_Invoker])", system=wine)).replace(
        chr(39), "."
    )


def test_only_some_of_many_problems_are_listed(folder):
    assert len(refuse(folder, "frobnicate(1)\n" * 40_000).problems) == 20
    assert len(refuse(folder, "repeat(2)\n" * 20_000 + "endRepeat()\n" * 20_000).problems) == 20


def test_all_scripts_together_have_a_limit(folder):
    for number in range(12):
        (folder / f"s{number}.scr").write_text("//" + "\n//".join(["x" * 9_000] * 100))
    assert "10,000,000 bytes together" in str(refuse(folder, "".join(f"playTestScript(s{n}.scr)\n" for n in range(12))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "moves"),
    [
        ("Mushroom_TestSpec.class", "ring_type_Down, stalk_surface_above_ring_Up, bruises_Up, mid"),
        ("BankChurners_TestSpec.class", "Avg_Open_To_Buy_Up, Gender_Down, Total_Ct_Chng_Q4_Q1_Up, mid"),
    ],
)
def test_names_of_the_published_case_studies(folder, real_data, spec, moves):
    real_data("mushroom" if "Mushroom" in spec else "bank_churners")
    models = "".join(f"analyse([start_{name}_Invoker])\n" for name in ("RF", "RF2", "Stack", "Stack2", "SVM2", "DT"))
    text = f"loadTestSpec({spec})\n{models}makeSeed([TrainingData])\ndirectedWalkExplore([{moves}])\n"
    assert check(folder, text, system=None).commands == 9


def test_links_inside_the_folder_are_fine(folder):
    (folder / "real.scr").write_text("clean()\n")
    (folder / "link.scr").symlink_to("real.scr")
    assert check(folder, "playTestScript(link.scr)").commands == 1
    assert ScriptFolder(folder).to_text(Path(folder, "real.scr").resolve()) == "real.scr"


def test_the_order_of_combinations_has_the_limit_of_dm_combine():
    (order, *_) = COMMANDS["kOrderComplete"].parameters
    assert (order.name, order.low, order.high) == ("order", 1, MAX_ORDER)
