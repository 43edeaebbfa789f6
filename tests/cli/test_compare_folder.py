"""The folder of `pcnet compare`: kept at once, continued after anything, never mixed with another comparison."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_comparisons import FILES, LONG, SMALL

from pcnet.experiment import run_experiment

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")

#: The command with a checkpoint after every epoch.
EAGER = "import pcnet.training._train as t; t.CHECKPOINT_INTERVAL = -1.0; from pcnet.cli import main; main()"


def start(*arguments: str) -> subprocess.Popen:
    command = [sys.executable, "-c", EAGER, *LONG, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(pattern: str, process: subprocess.Popen) -> None:
    until = time.monotonic() + 60
    while not any(Path().glob(pattern)):
        assert process.poll() is None, "ended too early"
        assert time.monotonic() < until
        time.sleep(0.002)


def scores_in(path: Path) -> dict:
    """What a comparison found, without the time it took and the command."""
    value = json.loads(path.read_text())
    for row in value["methods"]:
        row["seconds"] = 0
    return {key: value[key] for key in ("methods", "pairs", "sentence", "split_hashes", "notes")}


@pytest.mark.parametrize("out", [(), ("--out", "here")])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_continued(pcnet, place, pets, how, out):
    """At most a part of one method's training is lost, and the end is the same to the bit."""
    assert pcnet(*LONG, "--out", "undisturbed").code == 0
    folder = Path(*(out[1:] or ("runs/compare-pets-stratified-60-20-20",)))
    process = start(*out)
    wait_for(f"{folder}/methods/mlp.json", process)
    wait_for(f"{folder}/checkpoint/*/block-*.safetensors", process)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert err == f"pcnet: Interrupted; MLP is kept in {folder}: the same command goes on with GCN and PCNet.\n"
    assert "Traceback" not in err
    kept = (folder / "methods" / "mlp.json").read_bytes()
    assert not (folder / "compare.json").exists()
    answer = pcnet(*LONG, "--resume", *out)
    assert answer.code == 0, answer.err
    assert "1 of 3 done: MLP" in answer.out
    assert "kept from before" in answer.out
    assert (folder / "methods" / "mlp.json").read_bytes() == kept
    assert scores_in(folder / "compare.json") == scores_in(place / "undisturbed" / "compare.json")
    assert sorted(path.name for path in folder.iterdir()) == FILES


def test_interrupted_in_the_first_method(place, pets, written):
    """What is half trained is kept, or nothing at all, but never a folder without a use."""
    process = start("--out", "here", "--json", "r.json")
    wait_for("here/checkpoint/*/block-*.safetensors", process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith("pcnet: Interrupted; ")
    assert "the same command goes on with " in err
    assert len(err.splitlines()) == 1
    assert not {"here/compare.json", "r.json"} & {*written()}


def test_methods_can_be_added(pcnet, place, monkeypatch):
    """What is there is not trained again, whichever other methods are asked for."""
    arguments = ("compare", "--runs", "2", *SMALL, "--out", "here")
    assert pcnet(*arguments, "--methods", "mlp,gcn").code == 0
    trained = []

    def watched(graph, experiment, **how):
        trained.append(experiment.title)
        return run_experiment(graph, experiment, **how)

    monkeypatch.setattr("pcnet.experiment._folders.run_experiment", watched)
    assert pcnet(*arguments, "--methods", "gcn,pcnet").code == 0
    assert trained == ["PCNet"]
    assert {row["method"] for row in json.loads((place / "here" / "compare.json").read_text())["methods"]} == {
        "gcn",
        "pcnet",
    }


OTHER = {
    "runs": (("--runs", "3"), "another number of --runs or --seed, splits; go on with the same"),
    "metric": (("--metric", "macro_f1"), "another metric;"),
    "setting": (("--set", "hidden=5"), "another hidden of GCN;"),
    "protocol": (("--protocol", "stratified-60-20-20"), "another set of labels, protocol, splits;"),
    "graph": (("./pets", "--read", "label=pet"), "another graph,"),
}


@pytest.mark.parametrize("case", OTHER)
def test_another_comparison_is_refused(pcnet, place, pets, case):
    """In a folder that is named; by default it gets a folder of its own."""
    arguments = ("--runs", "2", *SMALL, "--methods", "gcn,mlp")
    assert pcnet("compare", *arguments, "--out", "here").code == 0
    before = {path: path.read_bytes() for path in (place / "here").rglob("*") if path.is_file()}
    more, words = OTHER[case]
    graph = more if case == "graph" else ()
    other = ("compare", *graph, *arguments, *(() if graph else more))
    pcnet(*other, "--out", "here").refuses(f"The comparison in here has {words}")
    assert {path: path.read_bytes() for path in (place / "here").rglob("*") if path.is_file()} == before


def test_by_default_every_comparison_has_a_folder(pcnet, place):
    for runs in (1, 2, 1):
        assert pcnet("compare", "--runs", runs, *SMALL, "--methods", "mlp,gcn").code == 0
    folders = sorted(path.name for path in (place / "runs").iterdir())
    assert folders == ["compare-citeseer-random-60-20-20", "compare-citeseer-random-60-20-20-2"]


@pytest.mark.parametrize("content", ["{", "[]", '{"ground": {}}'])
def test_a_damaged_method(pcnet, place, content):
    arguments = ("compare", "--runs", "1", *SMALL, "--methods", "mlp,gcn", "--out", "here")
    assert pcnet(*arguments).code == 0
    (place / "here" / "methods" / "mlp.json").write_text(content)
    pcnet(*arguments).refuses("mlp.json")


TUNED = ("compare", "pets", "--read", "label=pet", "--methods", "mlp,pcnet", "--tuned", "--trials", "2", "--runs", "2",
         "--set", "epochs=3", "--set", "hidden=4", "--threads", "1")  # fmt: skip


def test_tuned_methods_are_kept_and_continued(pcnet, place, pets, monkeypatch):
    """An interrupt in the second search: the first method is kept, the search goes on, and the end is the same."""
    assert pcnet(*TUNED, "--out", "undisturbed").code == 0
    whole = json.loads((place / "undisturbed" / "compare.json").read_text())
    for row in whole["methods"]:
        best = json.loads((place / "undisturbed" / "search" / row["method"] / "best.json").read_text())
        assert row["score"] == best["test"]["mean"]
        assert best["search"]["trials"] == 2
        assert "per_split" in best
    assert "chosen by each split from its own validation nodes, 2 trials and the defaults" in " ".join(whole["notes"])
    with monkeypatch.context() as patch:
        patch.setattr("pcnet.tune._tune.choices", interrupted_at(2))
        answer = pcnet(*TUNED)
    folder = Path("runs/compare-pets-stratified-60-20-20-tuned")
    assert answer.code == 130
    assert f"MLP is kept in {folder}: the same command goes on with PCNet" in answer.err
    assert pcnet(*TUNED, "--resume").code == 0
    assert scores_in(folder / "compare.json") == scores_in(place / "undisturbed" / "compare.json")
    pcnet(*TUNED[:-2], "--trials", "3", "--out", "undisturbed").refuses("has another number of --trials")


def interrupted_at(call: int):
    from pcnet.tune._choice import choices

    calls = 0

    def run(*arguments):
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return choices(*arguments)

    return run


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--trials", "3"], "--trials are those of a search; add --tuned."),
        (["--tuned", "--defaults"], "leave one of them out"),
    ],
)
def test_tuned_against_other_options(pcnet, place, options, words):
    pcnet("compare", *options).refuses(words)
    assert list(place.iterdir()) == []
