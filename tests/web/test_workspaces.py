"""The work of each person: apart from others, and there again after the studio was ended."""

import asyncio
import os
import stat
import time

import pytest

from datamorphic.errors import UsageError
from datamorphic.runs.url import STORE_VARIABLE
from datamorphic.web import workspaces
from datamorphic.web.jobs import StudioJob
from datamorphic.web.options import TOKEN_VARIABLE, WebOptions
from datamorphic.web.subject import ChosenSubject
from datamorphic.web.workspaces import MAX_AGE_DAYS, MAX_JOBS_KEPT, MAX_JOBS_RUNNING, Workspaces
from support.cases import in_one_test


@pytest.fixture
def options(tmp_path):
    """A studio with a folder of its own."""
    (tmp_path / "served").mkdir()
    return WebOptions(folder=tmp_path / "served", workspaces=tmp_path / "work", upload_megabytes=1)


def add_job(workspace, number, state="finished"):
    job = StudioJob(
        number=number, title="t", arguments=["test"], folder=workspace.folder / "jobs" / str(number), state=state
    )
    job.folder.mkdir(parents=True)
    job.save()
    workspace.jobs.append(job)
    return job


def test_two_people_share_nothing(options):
    everyone = Workspaces(options)
    ada, ben = everyone.get("session of ada"), everyone.get("session of ben")
    assert everyone.get("session of ada") is ada
    ada.choose(ChosenSubject.of_demo("Box 2"))
    add_job(ada, 1)
    ada.save_upload("a.csv", b"x")
    assert ben.subject.kind == "none"
    assert ben.uploads.list_data() == []
    with pytest.raises(UsageError, match="no job 1 here"):
        ben.find_job(1)


def test_folders_do_not_reveal_sessions_and_are_private(options):
    everyone = Workspaces(options)
    workspace = everyone.get("../../session of Olivia")  # no word of hexadecimal digits
    assert workspace.folder.parent == everyone.root
    assert "Olivia" not in str(workspace.folder)
    assert stat.S_IMODE(everyone.root.stat().st_mode) == 0o700
    everyone.read_secret()
    assert stat.S_IMODE((everyone.root / "secret").stat().st_mode) == 0o600


def test_work_survives_a_new_start(options):
    workspace = Workspaces(options).get("s")
    workspace.choose(ChosenSubject.of_demo("Box 2"))
    add_job(workspace, 9)
    add_job(workspace, 10, state="running")
    again = Workspaces(options).get("s")
    assert again.subject == ChosenSubject.of_demo("Box 2")
    assert [(job.number, job.state) for job in again.jobs] == [(9, "finished"), (10, "killed")]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"subject": {"wrong": 1}}', '{"subject": 3}'])
def test_a_damaged_state_is_an_empty_one(options, text):
    workspace = Workspaces(options).get("s")
    (workspace.folder / workspaces.STATE_FILE).write_text(text)
    (workspace.folder / "jobs" / "1").mkdir()
    (workspace.folder / "jobs" / "1" / "job.json").write_text(text)
    again = Workspaces(options).get("s")
    assert again.subject.kind == "none"
    assert again.jobs == []


def test_a_studio_on_another_folder_knows_nothing_of_this_one(options, tmp_path):
    here = Workspaces(options)
    here.get("s").choose(ChosenSubject.of_demo("Box 2"))
    (tmp_path / "other").mkdir()
    there = Workspaces(WebOptions(folder=tmp_path / "other", workspaces=tmp_path / "work"))
    assert there.get("s").subject.kind == "none"
    assert there.session_cookie != here.session_cookie
    assert there.read_secret() != here.read_secret()


def test_the_secret_stays_and_is_never_weak(options):
    everyone = Workspaces(options)
    secret = everyone.read_secret()
    assert len(secret) == 64
    assert Workspaces(options).read_secret() == secret
    for damaged in ("", "short", "ü"):
        (everyone.root / "secret").write_text(damaged)
        renewed = everyone.read_secret()
        assert len(renewed) == 64
        assert renewed != secret


def test_old_workspaces_are_removed(options):
    everyone = Workspaces(options)
    chosen, empty, fresh = (everyone.get(name).folder for name in ("a", "b", "c"))
    everyone.get("a").save()
    long_ago = time.time() - (MAX_AGE_DAYS + 1) * 86_400
    os.utime(chosen / workspaces.STATE_FILE, (long_ago, long_ago))
    os.utime(empty, (long_ago, long_ago))
    (everyone.root / "nicegui").mkdir()
    os.utime(everyone.root / "nicegui", (long_ago, long_ago))
    Workspaces(options)
    assert not chosen.exists()
    assert not empty.exists()
    assert fresh.exists()
    assert (everyone.root / "nicegui").exists()


# -- uploads -----------------------------------------------------------------------------------------------------------


@in_one_test(
    ("name", "expected"),
    [
        ("a.csv", "a.csv"),
        ("../../a.csv", "a.csv"),
        ("C:\\x\\a.csv", "a.csv"),
        ("/etc/a.csv", "a.csv"),
        ("...csv.csv", "csv.csv"),
        ("<img src=x>.csv", "<img src=x>.csv"),
        ("x" * 300 + ".csv", "x" * 116 + ".csv"),
    ],
)
def test_uploads_stay_in_their_folder(options, name, expected):
    workspace = Workspaces(options).get("s")
    path = workspace.save_upload(name, b"content")
    assert path == workspace.folder / "uploads" / expected
    assert path.read_bytes() == b"content"


@in_one_test(
    ("name", "content", "message"),
    [
        ("", b"x", "not a name"),
        ("..", b"x", "not a name"),
        ("a/", b"x", "cannot be uploaded"),
        ("a\0.csv", b"x", "not a name"),
        ("model.pkl", b"x", "runs any code .* with --trust. These files can be: .csv, .parquet, .skops"),
        ("model.joblib", b"x", "runs any code"),
        ("service.toml", b"x", "can send secrets"),  # would send the environment of the studio anywhere
        ("module.py", b"x", "is code. Put it into the served folder"),
        ("page.html", b"x", "cannot read this kind of file"),
        ("large.csv", b"x" * 1_000_001, "more than 1 MB"),
    ],
)
def test_other_uploads_are_refused(options, name, content, message):
    workspace = Workspaces(options).get("s")
    with pytest.raises(UsageError, match=message):
        workspace.save_upload(name, content)
    assert list((workspace.folder / "uploads").iterdir()) == []


def test_pickles_can_be_uploaded_with_trust(options, tmp_path):
    trusting = WebOptions(folder=options.folder, workspaces=tmp_path / "work", trust=True)
    assert Workspaces(trusting).get("s").save_upload("m.pkl", b"x").exists()


def test_all_uploads_together_are_limited(options, monkeypatch):
    workspace = Workspaces(options).get("s")
    monkeypatch.setattr(workspaces, "MAX_UPLOADS", 2)
    for name in ("a.csv", "b.csv", "b.csv"):  # the same name again replaces the file
        workspace.save_upload(name, b"x" * 600_000)
    with pytest.raises(UsageError, match="too much space"):
        workspace.save_upload("c.csv", b"x")
    monkeypatch.setattr(workspaces, "MAX_UPLOADS", 100)
    monkeypatch.setattr(workspaces, "UPLOADS_PER_LIMIT", 1)
    with pytest.raises(UsageError, match="too much space"):
        workspace.save_upload("a.csv", b"x" * 600_000)


# -- jobs --------------------------------------------------------------------------------------------------------------


def start(workspace, times=1, **options):
    """Start jobs whose processes never come, and return them."""

    async def start_all():
        async def wait():
            await asyncio.sleep(60)

        workspace.workers.take = wait
        jobs = [workspace.start_job("explore", ["--walks=5"], title="t", page="/x", **options) for _ in range(times)]
        for task in workspace._tasks:
            task.cancel()
        return jobs

    return asyncio.run(start_all())


def test_a_job_is_a_command_with_its_files(options):
    workspace = Workspaces(options).get("s")
    (job,) = start(workspace, front=True)
    folder = workspace.folder / "jobs" / "1"
    assert job.arguments == [
        *("explore", "--walks=5", "--json", f"--html={folder / 'report.html'}", f"--save={folder / 'front.parquet'}")
    ]
    assert job.command == "datamorphic explore --walks=5"
    assert workspace.find_job(1) is job
    assert workspace.list_jobs("/x") == [job]
    assert workspace.list_jobs("/y") == []


@in_one_test("allowed", [False, True])
@in_one_test("trust", [False, True])
def test_pickles_are_loaded_only_if_the_studio_allows_it_and_the_person_trusts_the_model(
    options, tmp_path, allowed, trust
):
    everyone = Workspaces(WebOptions(folder=options.folder, workspaces=tmp_path / "work", trust=allowed))
    workspace = everyone.get("s")
    workspace.choose(ChosenSubject(kind="files", model="m.pkl", data="d.csv", trust=trust))
    (job,) = start(workspace)
    assert ("--trust" in job.arguments) == workspace.trust == (allowed and trust)


def test_one_person_cannot_take_all_processes(options):
    workspace = Workspaces(options).get("s")
    with pytest.raises(UsageError, match="jobs are running"):
        start(workspace, MAX_JOBS_RUNNING + 1)


def test_numbers_are_never_used_twice(options):
    workspace = Workspaces(options).get("s")
    (workspace.folder / "jobs" / "7").mkdir()  # of another studio on the same folder
    assert [job.number for job in start(workspace, 2)] == [8, 9]


def test_old_jobs_are_forgotten_with_their_files(options):
    workspace = Workspaces(options).get("s")
    for number in range(1, MAX_JOBS_KEPT + 1):
        add_job(workspace, number)
    start(workspace)
    assert len(workspace.jobs) == MAX_JOBS_KEPT
    assert not (workspace.folder / "jobs" / "1").exists()


def test_processes_know_the_store_but_not_the_token(options, monkeypatch, tmp_path):
    monkeypatch.setenv(TOKEN_VARIABLE, "a good long token")
    monkeypatch.chdir(tmp_path)
    url = "postgresql://ada:hunter2@host/db"
    stores = {url: url, "none": "none", "runs.sqlite": str(tmp_path / "runs.sqlite")}
    for store, expected in stores.items():
        everyone = Workspaces(WebOptions(folder=options.folder, workspaces=tmp_path / "work", store=store))
        environment = everyone.workers._environment
        assert TOKEN_VARIABLE not in environment
        assert environment[STORE_VARIABLE] == expected
        (job,) = start(everyone.get(store))
        assert "hunter2" not in str(job)


def test_an_upload_is_deleted_unless_running_work_uses_it(options):
    workspace = Workspaces(options).get("s")
    model, data = workspace.save_upload("m.skops", b"x"), workspace.save_upload("d.csv", b"a")
    job = add_job(workspace, 1, state="running")
    job.arguments = ["test", str(model), f"--data={data}"]
    with pytest.raises(UsageError, match=r"'d\.csv' is used by a running job: t"):
        workspace.remove_upload("d.csv")
    job.state = "finished"
    workspace.choose(ChosenSubject(kind="files", name="m", model=str(model), data=str(data)))
    workspace.pool.running = object()
    with pytest.raises(UsageError, match="page Activities"):
        workspace.remove_upload("m.skops")
    workspace.pool.running = None
    assert workspace.remove_upload("m.skops")
    assert workspace.subject.kind == "none"  # it was what is tested
    assert not workspace.remove_upload("d.csv")
    assert list(workspace.uploads.root.iterdir()) == []
    for name in ("d.csv", "../jobs/1/job.json", "/etc/passwd"):
        with pytest.raises(UsageError):
            workspace.remove_upload(name)
