"""`pcnet compare`: the same splits for all, honest tests, and what it prints and writes."""

from __future__ import annotations

import csv
import io
import itertools
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from rich.console import Console

from pcnet import csbm
from pcnet.cli._compare_report import show
from pcnet.cli._contest import Contest, Trained
from pcnet.data import load_embedded
from pcnet.evaluation import summarise
from pcnet.experiments import Experiment, graph_experiment, protocol_experiment, run_experiment, splits_of
from pcnet.graph import Graph

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
SMALL = ("--set", "epochs=4", "--set", "hidden=6", "--threads", "1")
KEYS = """
    graph protocol runs seeds split_hashes best sentence methods left_out pairs groups notes
    command date machine versions
"""
FILES = ["compare.json", "compare.md", "critical-difference.png", "critical-difference.svg"]


@pytest.fixture(scope="module")
def citeseer() -> Graph:
    return load_embedded()


def signs(differences: np.ndarray) -> float:
    """Wilcoxon's p by going through all signs, which is exact with ties; SciPy is so without them."""
    left = np.round(differences, 9)[np.round(differences, 9) != 0]
    ranks = scipy.stats.rankdata(np.abs(left))
    sums = np.array(list(itertools.product([-1, 1], repeat=len(left)))) @ ranks
    p = float(np.mean(np.abs(sums) >= abs(ranks @ np.sign(left))))
    if len(left) == len(differences) == len({*np.abs(left)}):
        assert p == pytest.approx(scipy.stats.wilcoxon(differences, method="exact").pvalue)
    return p


def test_figures_by_other_means(pcnet, place, citeseer):
    arguments = ("--runs", "7", "--methods", "mlp,gcn,pcnet", *SMALL, "--out", "here", "--json", "result.json")
    code, out, err = pcnet("compare", *arguments)
    assert (code, err) == (0, "")
    value = json.loads((place / "result.json").read_text())
    assert list(value) == KEYS.split()
    assert (value["graph"], value["protocol"], value["runs"]) == ("citeseer", "random-60-20-20", 7)
    assert value == json.loads((place / "here" / "compare.json").read_text())
    rows = {row["method"]: row for row in value["methods"]}
    assert {*rows} == {"mlp", "gcn", "pcnet"}

    # Each method alone on the first two splits, as `pcnet train` would train it.
    for method, row in rows.items():
        alone = protocol_experiment("citeseer", "random-60-20-20", method)
        alone = alone.with_overrides(["epochs=4", "hidden=6"]).with_runs(2, None)
        result = run_experiment(citeseer, alone, threads=1)
        assert row["test"]["per_run"][:2] == list(result.test["accuracy"].per_run)
        assert row["settings"]["lr"] == dict(alone.training.lr)
        assert value["split_hashes"][:2] == [split.hash for split in result.splits]

    scores = np.array([row["test"]["per_run"] for row in value["methods"]])
    assert value["best"] == value["methods"][0]["method"]
    assert list(scores.mean(axis=1)) == sorted(scores.mean(axis=1), reverse=True)
    ranks = scipy.stats.rankdata(-scores, axis=0).mean(axis=1)
    assert [row["rank"] for row in value["methods"]] == pytest.approx(list(ranks))
    smaller, larger = sorted(signs(scores[0] - each) for each in scores[1:])
    assert sorted(row["p"] for row in value["methods"][1:]) == pytest.approx([smaller, larger])
    corrected = [min(1, 2 * smaller), min(1, max(2 * smaller, larger))]
    assert sorted(row["p_holm"] for row in value["methods"][1:]) == pytest.approx(corrected)
    for row, each in zip(value["methods"][1:], scores[1:], strict=True):
        assert row["behind"] == summarise(scores[0] - each).as_dict()
        assert row["verdict"] == ("worse" if row["p_holm"] <= 0.05 else "no different from the best")
    best = value["methods"][0]
    assert (best["verdict"], best["behind"], best["p"], best["p_holm"]) == ("best", None, None, None)
    assert len(value["pairs"]) == 3

    assert sorted(path.name for path in (place / "here").iterdir()) == FILES
    text = (place / "here" / "compare.md").read_text()
    for row in value["methods"]:
        assert f"| {row['title']} | {row['test']['mean']:.2f} | " in text
        assert f"{row['test']['mean']:.2f}" in out
    assert value["sentence"] in text
    assert value["sentence"] in " ".join(out.split())
    assert "share most of their nodes" in " ".join(out.split())


def test_neither_companions_nor_threads_change_a_method(pcnet, place):
    def row(name: str, *arguments: str) -> dict:
        assert pcnet("compare", "--runs", "2", *SMALL, *arguments, "--json", name).code == 0
        value = json.loads((place / name).read_text())
        (found,) = [row for row in value["methods"] if row["method"] == "gcn"]
        return {"test": found["test"], "settings": found["settings"], "hashes": value["split_hashes"]}

    first = row("a", "--methods", "gcn,mlp")
    assert first == row("b", "--methods", "appnp, gcn, pcnet", "--threads", "2")
    assert first != row("c", "--methods", "gcn,mlp", "--seed", "5")


def test_what_cannot_be_trained_is_left_out(pcnet, place):
    answer = pcnet("compare", "--runs", "2", *SMALL, "--set", "hidden=2", "--methods", "mixhop,mlp,gcn", "--json", "r")
    assert answer.code == 0
    assert "MixHop is left out: 3 powers cannot share 2 hidden channels" in answer.out
    value = json.loads((place / "r").read_text())
    assert [entry["method"] for entry in value["left_out"]] == ["MixHop"]
    assert {row["method"] for row in value["methods"]} == {"mlp", "gcn"}


def test_one_is_left(pcnet, place):
    answer = pcnet("compare", "--runs", "1", *SMALL, "--set", "hidden=2", "--methods", "mixhop,mlp", "--out", "here")
    assert answer.code == 0
    assert "there is no other to compare it with" in answer.out
    assert sorted(path.name for path in (place / "here").iterdir()) == FILES


def test_too_few_runs_say_so(pcnet, place):
    out = pcnet("compare", "--runs", "2", *SMALL, "--methods", "mlp,gcn", "--json", "r").out
    assert "too few runs to tell: with n = 2" in out
    assert [row["verdict"] for row in json.loads((place / "r").read_text())["methods"]] == [
        "best",
        "too few runs to tell",
    ]


def test_defaults_for_all(pcnet, place, citeseer):
    """Where PCNet has published settings, `--defaults` treats it as the others."""
    arguments = ("--runs", "1", "--set", "epochs=1", "--methods", "mlp,pcnet", "--json", "r")
    published = " ".join(pcnet("compare", *arguments).out.split())
    assert "Settings for this graph: " in published
    assert "PCNet (uestclbh/PC-Conv@3307b4f)" in published
    assert "chosen by its authors by test scores" in published
    out = pcnet("compare", *arguments, "--defaults").out
    assert "Every method has its defaults" in out
    rows = {row["method"]: row["settings"] for row in json.loads((place / "r").read_text())["methods"]}
    expected = graph_experiment(citeseer, "pcnet").with_overrides(["epochs=1"]).settings
    assert rows["pcnet"] == {**json.loads(json.dumps(expected)), "source": ""}


def write_folder(folder: Path, graph: Graph) -> None:
    """A graph as its owner has it: names of nodes and classes, two CSV files."""
    folder.mkdir()
    with (folder / "edges.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["source", "target"])
        writer.writerows([f"n{u}", f"n{v}"] for u, v in graph.edge_index.t().tolist() if u < v)
    with (folder / "nodes.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "pet", *(f"f{place}" for place in range(graph.num_features))])
        for node, (label, x) in enumerate(zip(graph.y.tolist(), graph.x.tolist(), strict=True)):
            writer.writerow([f"n{node}", ("cat", "dog")[label], *x])


def test_your_own_graph(pcnet, place):
    """All information is in the links, and against homophily: the perceptron is at chance, PCNet is not."""
    write_folder(place / "pets", csbm(400, -0.9, features=8, average_degree=8, seed=3))
    arguments = ("--methods", "mlp,pcnet", "--runs", "6", "--set", "epochs=100", "--threads", "1")
    answer = pcnet("compare", "pets", "--read", "label=pet", *arguments, "--out", "here", "--json", "r.json")
    assert answer.code == 0, answer.err
    value = json.loads((place / "r.json").read_text())
    assert (value["protocol"], value["seeds"]) == ("random-60-20-20", list(range(6)))
    assert [(row["method"], row["verdict"]) for row in value["methods"]] == [("pcnet", "best"), ("mlp", "worse")]
    assert value["methods"][1]["p_holm"] == 2 / 2**6
    assert "MLP is worse on these splits." in " ".join(answer.out.split())
    assert value["groups"] == []


def test_fixed_splits_of_a_table(pcnet, place, real):
    answer = pcnet(
        "compare", "texas", "--preset", "table3", *SMALL, "--runs", "3", "--methods", "mlp,gcn", "--json", "r",
        "--data", real,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    value = json.loads((place / "r").read_text())
    assert (value["protocol"], value["seeds"]) == ("fixed-48-32-20", [0, 1, 2])


@pytest.fixture(scope="module")
def contest() -> Contest:
    """Three methods of which one is close to the best and one is not."""
    graph = csbm(60, 0.5, features=3, seed=0)
    experiments = {method: Experiment("g", "p", "random-60-20-20", tuple(range(8)), row=method) for method in TITLES}
    best = np.linspace(80, 84, 8)
    scores = {"pcnet": best, "pcnet-half-lin": best - 1 + np.tile([2.0, -1.8], 4), "glognn++": best - np.arange(1, 9)}
    splits = splits_of(graph, experiments["pcnet"])
    trained = [
        Trained(m, experiments[m], summarise(each), summarise(each), (5,) * 8, 1.0) for m, each in scores.items()
    ]
    return Contest(graph, splits, trained, {"GAT": "there is [not] enough memory for it"})


TITLES = ("pcnet", "pcnet-half-lin", "glognn++")


@pytest.mark.parametrize("width", [80, 120])
def test_on_screens(contest, width):
    console = Console(file=io.StringIO(), width=width)
    show(console, contest)
    text = console.file.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert ("p (t)" in text.splitlines()[1]) == (width == 120)
    assert "there is [not] enough memory for it" in text
    whole = " ".join(text.split())
    assert "PCNet₀.₅-Lin is no different from it and GloGNN++ is worse on these splits." in whole
    # d = 1, …, 8 has the mean 4.5 and the variance 6.
    ratio = np.mean([len(split.test) / len(split.train) for split in contest.splits])
    t = 4.5 / np.sqrt((1 / 8 + ratio) * 6)
    assert contest.standings[2].resampled == pytest.approx(2 * 2 * scipy.stats.t.sf(t, 7))
    assert contest.standings[2].resampled > 0.05
    assert "worse is sure of none." in whole


@pytest.mark.slow
def test_interrupted_leaves_nothing(place, written):
    command = [sys.executable, "-m", "pcnet", "compare", "--out", "here", "--json", "r.json", "--set", "stopping=none"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.splitlines()[-1].startswith("pcnet: Interrupted; nothing was written.")
    assert "Traceback" not in err
    assert written() == []


def test_interrupted_keeps_what_is_trained(pcnet, place, monkeypatch):
    def until_gcn(graph, experiment, **how):
        if experiment.title == "GCN":
            raise KeyboardInterrupt
        return run_experiment(graph, experiment, **how)

    monkeypatch.setattr("pcnet.cli._compare.run_experiment", until_gcn)
    code, out, err = pcnet(
        "compare", "--methods", "mlp,gcn,pcnet", "--runs", 2, *SMALL, "--out", "here", "--json", "r.json"
    )
    assert code == 130
    assert err.splitlines()[-1] == "pcnet: Interrupted; MLP had been trained and the others not."
    report = json.loads((place / "r.json").read_text())
    assert [each["method"] for each in report["left_out"]] == ["GCN", "PCNet"]
    assert "MLP" in (place / "here" / "compare.md").read_text()
    assert "GCN is left out: the command was interrupted before it was trained" in " ".join(out.split())


REFUSED = {
    "unknown graph": ("compare citseer", "Did you mean 'citeseer'?"),
    "no such path": ("compare ./nowhere", "nowhere"),
    "read of a named dataset": ("compare --read label=topic", "--read is for your own files"),
    "unknown method": ("compare --methods mlp,pcnett", "There is no method 'pcnett'"),
    "its close match": ("compare --methods mlp,pcnett", "Did you mean 'pcnet'?"),
    "one method": ("compare --methods mlp,MLP", "two methods or more"),
    "no method": ("compare --methods ,", "two methods or more"),
    "unknown preset": ("compare --preset tabel2", "Did you mean 'table2'?"),
    "a preset file": ("compare --preset best.json", "There is no preset 'best.json'"),
    "preset of another dataset": ("compare reed98 --preset table2", "table2 has no dataset reed98"),
    "preset for an own graph": ("compare ./mine --preset table2", "leave it out for a graph of your own"),
    "preset and protocol": ("compare --preset table2 --protocol fixed-48-32-20", "leave out --protocol"),
    "preset and defaults": ("compare --preset table2 --defaults", "leave out --defaults"),
    "unknown protocol": ("compare --protocol random-60-20", "Did you mean 'random-60-20-20'?"),
    "no fixed splits": ("compare --protocol fixed-48-32-20", "citeseer has no fixed splits here"),
    "no runs": ("compare --runs 0", "--runs must be at least 1, not 0"),
    "negative seed": ("compare --seed -1", "--seed must be at least 0, not -1"),
    "a setting that one lacks": ("compare --set K=3", "MLP: There is no setting 'K'."),
    "a bad setting": ("compare --set epochs=0", "epochs must be at least 1, not 0"),
    "no threads": ("compare --threads 0", "threads must be at least 1, not 0"),
    "no such device": ("compare --device gpu", "There is no device 'gpu'"),
    "none can be trained": ("compare --runs 1 --set lr=1e38 --set epochs=3 --methods mlp,gcn", "seed 0 diverged"),
    "out is a file": ("compare --out file", "it is a file; name a folder"),
    "json is a folder": ("compare --json folder", "Cannot write folder: it is a folder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, pcnet, place, written):
    (place / "file").write_text("mine")
    (place / "folder").mkdir()
    (place / "mine").mkdir()
    before = written()
    command, words = REFUSED[case]
    pcnet(*command.split()).refuses(words)
    assert written() == before


def test_help(pcnet):
    out = " ".join(pcnet("compare", "--help").out.replace("│", " ").split())
    options = (
        "--methods --preset --protocol --defaults --runs --set --seed --threads --device --out --read --data --json"
    )
    for word in (*options.split(), "mlp,gcn,pcnet", "test labels choose nothing", "left out and says why"):
        assert word in out
