"""`pcnet compare`: the same splits for all, honest tests, and what it prints and writes."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
import torch
from small_comparisons import FILES, SMALL, corrected_interval, write_folder

from pcnet import csbm, read_graph
from pcnet.data import load_embedded
from pcnet.experiment import resolve, run_experiment
from pcnet.graph import Graph

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
KEYS = """
    graph nodes features classes protocol metric metric_words runs seeds split_hashes split_sizes best sentence methods
    left_out pairs groups meaning notes next command date machine versions
"""


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
        alone = resolve("citeseer", method, protocol="random-60-20-20")
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
    ratio = np.mean([test / train for train, _, test in value["split_sizes"]])
    behind = {}
    for row, each in zip(value["methods"][1:], scores[1:], strict=True):
        mean, low, high = corrected_interval(scores[0] - each, ratio, 2)
        assert [row["behind"]["value"], *row["behind"]["interval"]] == pytest.approx([mean, low, high])
        assert row["verdict"] == ("worse" if low > 0 else "may be as good")
        behind[row["method"]] = row["behind"]
    best = value["methods"][0]
    assert (best["verdict"], best["behind"], best["p"], best["p_holm"]) == ("best", None, None, None)
    assert best["score"] == best["test"]["mean"]
    assert best["interval"] == best["test"]["ci95"]
    # All against all, the better one first; those to the best are those of the rows.
    order = [row["method"] for row in value["methods"]]
    assert [(pair["first"], pair["second"]) for pair in value["pairs"]] == list(itertools.combinations(order, 2))
    for pair in value["pairs"][:2]:
        assert {"value": pair["difference"], "interval": pair["interval"]} == behind[pair["second"]]

    assert sorted(path.name for path in (place / "here").iterdir()) == FILES
    text, page = ((place / "here" / name).read_text() for name in ("compare.md", "compare.html"))
    for row in value["methods"]:
        assert f"| {row['title']} | {row['test']['mean']:.2f} | " in text.replace("**", "")
        assert f"{row['test']['mean']:.2f}" in out
    for where in (text, page, " ".join(out.split())):
        assert value["sentence"] in where
        assert "the nodes that splits share" in where
    assert {path.stem for path in (place / "here" / "methods").iterdir()} == {"mlp", "gcn", "pcnet"}


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


def test_few_runs_say_the_difference_and_its_interval(pcnet, place):
    answer = pcnet("compare", "--runs", "3", *SMALL, "--methods", "mlp,gcn", "--json", "r")
    value = json.loads((place / "r").read_text())
    behind = value["methods"][1]["behind"]
    low, high = (f"{end:.2f}".replace("-", "−") for end in behind["interval"])
    assert f"behind by {behind['value']:.2f} [{low}, {high}]" in value["sentence"]
    assert "too few" not in " ".join(answer.out.split())
    assert "With n = 3 no p among 2 methods can fall below 0.25" in " ".join(value["meaning"])


def test_one_split_has_no_interval(pcnet, place):
    pcnet("compare", "--runs", "1", *SMALL, "--methods", "mlp,gcn", "--json", "r", "--out", "here")
    value = json.loads((place / "r").read_text())
    assert [row["verdict"] for row in value["methods"]] == ["best", "cannot tell"]
    assert [row["interval"] for row in value["methods"]] == [None, None]
    assert value["methods"][1]["behind"]["interval"] is None
    assert "one split cannot say; more --runs can." in value["sentence"]


def test_lower_is_better_for_log_loss(pcnet, place):
    arguments = ("--runs", "4", *SMALL, "--methods", "mlp,gcn,pcnet", "--metric", "log_loss", "--out", "here")
    answer = pcnet("compare", *arguments, "--json", "r")
    assert answer.code == 0, answer.err
    value = json.loads((place / "r").read_text())
    scores = np.array([row["test"]["per_run"] for row in value["methods"]])
    assert (value["metric"], value["metric_words"]) == ("log_loss", "log loss")
    assert list(scores.mean(axis=1)) == sorted(scores.mean(axis=1))
    assert [row["rank"] for row in value["methods"]] == list(scipy.stats.rankdata(scores, axis=0).mean(axis=1))
    assert all(pair["difference"] >= 0 for pair in value["pairs"])
    for row, each in zip(value["methods"][1:], scores[1:], strict=True):
        assert row["behind"]["value"] == pytest.approx((each - scores[0]).mean())
    best = value["methods"][0]
    assert f"{best['title']} has the lowest log loss, {best['score']:.4f} [" in value["sentence"]
    assert all(row["settings"]["select"] == "val_loss" for row in value["methods"])
    assert "log loss, lower is better" in (place / "here" / "compare.html").read_text()


def test_a_rare_class_is_scored_by_roc_auc(pcnet, place):
    """And all methods by the same; the headline says why, and `--metric` says otherwise."""
    graph = csbm(150, 0.7, features=6, average_degree=6, seed=1)
    rare = torch.arange(150) % 5 == 0
    write_folder(place / "pets", replace(graph, y=rare.long(), x=graph.x + rare[:, None]))
    arguments = ("compare", "pets", "--read", "label=pet", *SMALL, "--runs", "3", "--methods", "mlp,gcn", "--json", "r")
    answer = pcnet(*arguments)
    assert answer.code == 0, answer.err
    assert "ROC-AUC, because 'cat' has 80 % of the labels" in " ".join(answer.out.split())
    value = json.loads((place / "r").read_text())
    assert value["metric"] == "roc_auc"
    assert {row["settings"]["metric"] for row in value["methods"]} == {"roc_auc"}
    assert {row["settings"]["select"] for row in value["methods"]} == {"val_roc_auc"}
    loaded = read_graph(place / "pets", label="pet")
    alone = resolve(loaded, "mlp").with_overrides(["epochs=4", "hidden=6"]).with_runs(3, None)
    result = run_experiment(loaded, alone, threads=1)
    auc = [
        sklearn.metrics.roc_auc_score(split.labels[split.test], outcome.logits.softmax(1)[split.test, 1])
        for split, outcome in zip(result.splits, result.outcomes, strict=True)
    ]
    (mlp,) = [row for row in value["methods"] if row["method"] == "mlp"]
    assert mlp["test"]["per_run"] == pytest.approx([100 * each for each in auc])
    (step,) = [step["command"] for step in value["next"] if " train " in step["command"]]
    assert step.startswith(f"pcnet train pets --method {value['best']} --set epochs=4 --set hidden=6 --read label=pet")
    said = pcnet(*arguments, "--metric", "macro-f1")
    assert "ROC-AUC" not in said.out
    assert json.loads((place / "r").read_text())["metric"] == "macro_f1"


def test_a_metric_that_says_nothing_there(pcnet, place, written):
    """Of two nodes of a class there is one in training, and one in the test: none validates."""
    graph = csbm(40, 0.5, features=3, seed=2)
    write_folder(place / "pets", replace(graph, y=(torch.arange(40) < 2).long()))
    before = written()
    answer = pcnet("compare", "pets", "--read", "label=pet", "--runs", "2")
    answer.refuses("are all of one class, where ROC-AUC says nothing; use another metric, such as log_loss")
    assert written() == before


def test_defaults_for_all(pcnet, place, citeseer):
    """Where PCNet has published settings, `--defaults` treats it as the others."""
    arguments = ("--runs", "1", "--set", "epochs=1", "--methods", "mlp,pcnet", "--json", "r")
    published = " ".join(pcnet("compare", *arguments).out.split())
    assert "Settings for this graph: " in published
    assert "PCNet (uestclbh/PC-Conv@3307b4f)" in published
    assert "chosen by its authors by test scores" in published
    out = pcnet("compare", *arguments, "--defaults").out
    assert "Validation on other graphs chose the settings of MLP; PCNet has its usual ones." in " ".join(out.split())
    assert "Nobody tuned a method for this graph" in out
    rows = {row["method"]: row["settings"] for row in json.loads((place / "r").read_text())["methods"]}
    expected = resolve(citeseer, "pcnet").with_overrides(["epochs=1"]).settings
    assert rows["pcnet"] == {**json.loads(json.dumps(expected)), "source": ""}


def test_your_own_graph(pcnet, place):
    """All information is in the links, and against homophily: the perceptron is at chance, PCNet is not."""
    write_folder(place / "pets", csbm(400, -0.9, features=8, average_degree=8, seed=3))
    arguments = ("--methods", "mlp,pcnet", "--runs", "6", "--set", "epochs=100", "--threads", "1")
    answer = pcnet("compare", "pets", "--read", "label=pet", *arguments, "--out", "here", "--json", "r.json")
    assert answer.code == 0, answer.err
    value = json.loads((place / "r.json").read_text())
    assert (value["protocol"], value["seeds"]) == ("stratified-60-20-20", list(range(6)))
    assert [(row["method"], row["verdict"]) for row in value["methods"]] == [("pcnet", "best"), ("mlp", "worse")]
    assert value["methods"][1]["p_holm"] == 2 / 2**6
    assert "Worse: MLP (behind by " in " ".join(answer.out.split())
    assert value["groups"] == []


def test_fixed_splits_of_a_table(pcnet, place, real):
    answer = pcnet(
        "compare", "texas", "--preset", "table3", *SMALL, "--runs", "3", "--methods", "mlp,gcn", "--json", "r",
        "--data", real,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    value = json.loads((place / "r").read_text())
    assert (value["protocol"], value["seeds"]) == ("fixed-48-32-20", [0, 1, 2])


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
    "unknown metric": ("compare --metric roc", "Did you mean 'roc_auc'?"),
    "nothing to resume": ("compare --resume", "There is no interrupted comparison of these methods under runs/"),
    "nothing to resume there": ("compare --resume --out folder", "There is no interrupted comparison in folder"),
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
        "--methods --preset --protocol --metric --defaults --runs --set --seed --threads --device --out --resume "
        "--read --data --json"
    )
    for word in (*options.split(), "mlp,gcn,pcnet", "test labels choose nothing", "left out and says why"):
        assert word in out
