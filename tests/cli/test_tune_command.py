"""`pcnet tune`: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from pcnet import PCNetSettings

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")

#: Small enough for a test on the graph inside the package.
SMALL = ("--set", "epochs=3", "--set", "hidden=4", "--runs", "2")
QUICK = ("tune", "citeseer", "--trials", "4", *SMALL)


def test_a_search(pcnet, place):
    code, out, err = pcnet(*QUICK, "--shared", "--leak", "--json", "result.json", "--store", "store")
    assert (code, err) == (0, "")
    result = json.loads((place / "result.json").read_text())
    written = json.loads((place / "store" / "best.json").read_text())
    assert written.pop("hash")
    assert result == written
    assert {"command", "date", "machine", "device", "versions"} <= {*result}
    assert (result["dataset"], result["protocol"], result["seeds"]) == ("citeseer", "random-60-20-20", [0, 1])
    assert result["preset"] == "table2, changed"
    assert result["published"]["paper"] == [81.76, 0.78]
    assert (result["search"]["trials"], result["search"]["strategy"], result["search"]["seed"]) == (4, "random", 0)
    assert (result["model"]["hidden"], result["training"]["epochs"]) == (4, 3)
    assert (place / "store" / "trials.sqlite").is_file()
    plain = " ".join(out.split())
    trial = result["search"]["trial"]
    assert "Tuning PCNet on citeseer (3,327 nodes, 3,703 features, 6 classes)" in plain
    assert "2 splits, 4 trials and the defaults, random search, accuracy" in plain
    assert "The best 5 of 5 trials, the defaults among them, by mean validation accuracy" in plain
    name = "the defaults" if trial < 0 else f"trial {trial}"
    assert f"Test labels were read for {name}" in plain
    assert f"after {name} had been chosen by a validation accuracy" in plain
    assert "Because --leak was asked for, test labels were also read for every trial" in plain
    assert f"would have reported {result['leak']['test_selected']['mean']:.2f}" in plain
    assert f"{result['leak']['gap']:.2f} points more than choosing by validation" in plain
    assert "10 runs in " in plain
    assert "  pcnet train citeseer --preset store/best.json\n" in out
    # The defaults are the method's, not those of the table, which test scores chose.
    assert result["defaults"]["values"]["drop_in"] == PCNetSettings().drop_in
    assert "one setting for all splits (--shared)" in plain
    assert f"{result['overlap']:.0%} of the test nodes of a split are validation nodes of others" in plain
    for row in (
        "test, chosen by all splits together (shared)",
        "test, published settings",
        "test, chosen by test scores",
        "paper",
    ):
        assert row in plain


def test_each_split_chooses_for_itself(pcnet, place):
    code, out, err = pcnet(*QUICK, "--leak", "--store", "store")
    assert (code, err) == (0, "")
    plain, best = " ".join(out.split()), json.loads((place / "store" / "best.json").read_text())
    assert "each split chooses for itself" in plain
    assert "On each split, by its seed, the best of 5 trials" in plain
    for row in (
        "test, chosen by each split",
        "test, the ensemble",
        "test, the mean of the best",
        "validation, the ensemble",
    ):
        assert row in plain
    assert "Each split chose by its own validation nodes: no test label had a say" in plain
    ensemble = best["ensembles"]["greedy"]
    assert f"The ensemble of each split: validation {ensemble['val']['mean']:.2f}, test " in plain
    assert f"would have reported {best['leak']['test_selected']['mean']:.2f}" in plain
    for name in ("best", "ensemble"):
        assert f"  pcnet train citeseer --preset store/{name}.json\n" in out
    pcnet("tune", "citeseer", "--preset", "store/best.json").refuses("A search starts from one setting")


def test_the_ensemble_is_trained_predicts_and_is_explained(pcnet, place):
    assert pcnet(*QUICK, "--store", "store").code == 0
    tuned = json.loads((place / "store" / "best.json").read_text())["ensembles"]["greedy"]
    code, out, err = pcnet("train", "--preset", "store/ensemble.json", "--out", "run", "--no-predictor")
    assert (code, err) == (0, "")
    assert json.loads((place / "run" / "metrics.json").read_text())["test"]["accuracy"] == tuned["test"]
    assert "Every split has settings that it chose itself" in out
    members = json.loads((place / "run" / "classifier.json").read_text())["members"]
    assert [each["weight"] for each in members] == [w for own in tuned["per_split"] for w in own["trials"].values()]
    assert "Every split chose for itself" in (place / "run" / "report.html").read_text()
    assert pcnet("predict", "run").code == 0
    pcnet("train", "--preset", "store/ensemble.json", "--runs", "3").refuses("none for the split of seed 2 here")


def test_a_whole_table(pcnet, place):
    """Of Table 2, the dataset that is at hand; the others are named. A second command only reads the stores."""
    command = ("tune", "table2", "--trials", "4", "--leak", *SMALL, "--out", "tables", "--store", "searches")
    code, out, _ = pcnet(*command, "--json", "rows.json")
    assert code == 0
    assert "table2 cora: left out." in out
    report = json.loads((place / "tables" / "tuned-tables.json").read_text())
    (cell,) = report["cells"]
    best = json.loads((place / "searches" / "table2-citeseer" / "best.json").read_text())
    assert json.loads((place / "rows.json").read_text())["cells"] == report["cells"]
    for key in ("test", "val", "leak", "published", "split_hashes", "date", "machine"):
        assert cell[key] == best[key]
    assert report["command"] == "pcnet " + " ".join([*command, "--json", "rows.json"])
    page = (place / "tables" / "tuned-tables.md").read_text()
    (row,) = [line for line in page.splitlines() if "| citeseer |" in line]
    for value in (best["test"]["mean"], best["leak"]["test_selected"]["mean"], best["leak"]["gap"], 81.76):
        assert f"| {value:.2f} |" in row
    trials = (place / "searches" / "table2-citeseer" / "trials.sqlite").read_bytes()
    assert pcnet(*command).code == 0
    assert (place / "searches" / "table2-citeseer" / "trials.sqlite").read_bytes() == trials


def test_a_table_has_its_own_splits(pcnet, place):
    code, _, err = pcnet("tune", "table1", "--protocol", "fixed-48-32-20")
    assert (code, err) == (2, "pcnet: table1 has its own splits; leave out --preset and --protocol.\n")


def test_best_is_a_preset_that_gives_the_same_score(pcnet, place):
    assert pcnet(*QUICK, "--json", "tuned.json").code == 0
    folder = "runs/tune-citeseer-random-60-20-20"
    assert pcnet("train", "--preset", f"{folder}/best.json", "--json", "trained.json", "--threads", "2").code == 0
    tuned, trained = (json.loads((place / name).read_text()) for name in ("tuned.json", "trained.json"))
    assert trained["test"] == tuned["test"]
    assert trained["val"] == tuned["val"]
    assert (trained["dataset"], trained["preset"], trained["runs"]) == ("citeseer", "best", 2)
    assert (place / "runs" / "citeseer-best").is_dir()
    # And that of all splits together is where another search can start.
    assert pcnet(*QUICK, "--shared").code == 0
    best = f"{folder}-shared/best.json"
    again = pcnet("tune", "citeseer", "--preset", best, "--trials", "1", "--set", "epochs=2", "--json", "again.json")
    assert again.code == 0
    assert json.loads((place / "again.json").read_text())["seeds"] == [0, 1]


def test_the_same_command_again_shows_the_result(pcnet, place):
    first = pcnet(*QUICK, "--store", "store", "--json", "a.json")
    before = {path: path.read_bytes() for path in (place / "store").rglob("*") if path.is_file()}
    second = pcnet(*QUICK, "--store", "store", "--json", "b.json")
    assert (place / "a.json").read_bytes() == (place / "b.json").read_bytes()
    assert second.out == first.out
    assert {path: path.read_bytes() for path in (place / "store").rglob("*") if path.is_file()} == before


def test_halving_says_what_it_saves(pcnet):
    out = " ".join(pcnet(*QUICK, "--shared", "--strategy", "halving", "--trials", "6").out.split())
    assert "successive halving" in out
    assert "10 runs, 71% of a search on all splits" in out
    assert "The best 3 of 3 trials, the defaults among them" in out


def test_optuna(pcnet, place):
    pytest.importorskip("optuna")
    code, out, err = pcnet(*QUICK, "--sampler", "tpe", "--batch", "2", "--store", "s", "--json", "r.json")
    assert (code, err) == (0, "")
    assert "Optuna's tpe sampler" in " ".join(out.split())
    assert json.loads((place / "r.json").read_text())["search"]["strategy"] == "optuna"


def test_the_wide_space_of_a_method_with_published_settings(pcnet, place):
    command = ("tune", "citeseer", "--method", "chebnetii", "--space", "wide", "--trials", "2", "--set", "epochs=3")
    code, out, err = pcnet(*command, "--set", "K=3", "--runs", "1", "--json", "r.json")
    assert (code, err) == (0, "")
    # It has too many points for a grid.
    assert "2 trials and the defaults, random search" in " ".join(out.split())
    result = json.loads((place / "r.json").read_text())
    assert result["search"]["space"]["basis"] == ["plain", "orthonormal"]
    assert {own["model"]["K"] for own in result["settings"].values()} == {3}
    assert not any("as published" in note for note in result["notes"])


def test_a_space_of_ones_own(pcnet, place):
    (place / "mine.json").write_text('{"t": [0.25], "lr.first": [0.1, 0.2], "hidden": [3]}')
    assert (
        pcnet(
            "tune",
            "citeseer",
            "--space",
            "mine.json",
            "--trials",
            "2",
            *SMALL[:2],
            "--runs",
            "1",
            "--shared",
            "--json",
            "r.json",
        ).code
        == 0
    )
    result = json.loads((place / "r.json").read_text())
    assert result["search"]["space"] == {"t": [0.25], "lr.first": [0.1, 0.2], "hidden": [3]}
    assert (result["defaults"]["values"]["hidden"], result["search"]["complete_trials"]) == (PCNetSettings().hidden, 3)
    # What the space leaves open is as published, and that is noted.
    assert any(note.startswith("Not searched but as published") and "lr.theta" in note for note in result["notes"])
    assert not any("lr.first" in note for note in result["notes"])
    if result["search"]["trial"] >= 0:
        assert (result["model"]["t"], result["model"]["hidden"]) == (0.25, 3)
        assert (result["model"]["K"], result["training"]["lr"]["theta"]) == (4, 0.01)


@pytest.mark.slow
def test_json_on_standard_output_and_nothing_else_there(process):
    code, out, err = process(*QUICK, "--trials", "2", "--json", "-")
    assert code == 0
    assert json.loads(out)["search"]["trials"] == 2
    assert "by validation accuracy" in err
    assert "Traceback" not in err


def test_interrupted_says_how_to_go_on(place):
    command = [sys.executable, "-m", "pcnet", "tune", "citeseer", "--trials", "500", "--store", "store"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "pcnet: Interrupted; the same command continues the search in store."
    assert "Traceback" not in err


def test_another_metric_and_80_columns(pcnet, place, pets, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    command = ("tune", "pets", "--read", "label=pet", "--trials", "3", *SMALL, "--store", "s")
    answer = pcnet(*command, "--metric", "log-loss", "--json", "r.json")
    assert answer.code == 0, answer.err
    assert [line for line in answer.out.splitlines() if len(line) > 80] == []
    best = json.loads((place / "r.json").read_text())
    assert best["metric"] == "log_loss"
    assert {own["training"]["select"] for own in best["settings"].values()} == {"val_loss"}
    plain = " ".join(answer.out.split())
    assert "Log loss, lower is better" in plain
    assert f"validation log loss of {best['val']['mean']:.4f}" in plain
    assert "  pcnet train pets --preset s/best.json --read label=pet\n" in answer.out
    pcnet(*command).refuses("The search in s has another metric")


REFUSED = {
    "unknown metric": ("tune citeseer --metric roc", "Did you mean 'roc_auc'?"),
    "metric of a table": ("tune table2 --metric roc_auc", "table2 is scored by accuracy, as in the paper"),
    "no dataset": ("tune", "Missing argument 'GRAPH'"),
    "unknown dataset": ("tune citseer", "Did you mean 'citeseer'?"),
    "unknown protocol": ("tune citeseer --protocol random-60-20", "Did you mean 'random-60-20-20'?"),
    "protocol against preset": (
        "tune citeseer --preset table2 --protocol fixed-48-32-20",
        "table2 splits by random-60-20-20, not by fixed-48-32-20",
    ),
    "no fixed splits": ("tune citeseer --protocol fixed-48-32-20", "citeseer has no fixed splits here"),
    "unknown preset": ("tune citeseer --preset tabel2", "Did you mean 'table2'?"),
    "no such preset file": ("tune citeseer --preset none.json", "There is no file none.json"),
    "no trials": ("tune citeseer --trials 0", "--trials must be at least 1, not 0"),
    "no runs": ("tune citeseer --runs 0", "--runs must be at least 1, not 0"),
    "negative seed": ("tune citeseer --seed -1", "--seed must be at least 0, not -1"),
    "unknown strategy": (
        "tune citeseer --strategy gird",
        "There is no strategy 'gird'; choose from random, halving, evolve, grid, optuna",
    ),
    "sampler of another strategy": ("tune citeseer --strategy halving --sampler tpe", "A sampler belongs to"),
    "halving for each split": ("tune citeseer --strategy halving", "or --shared for one setting for all splits"),
    "a table's file for each split": ("tune table2 --method gcn", "one setting for each dataset of a table; add --sha"),
    "no such space": ("tune citeseer --space none.json", "There is no file none.json"),
    "a space of nothing": ("tune citeseer --space empty.json", "empty.json is no search space"),
    "an unknown axis": ("tune citeseer --space typo.json", "Did you mean 'drop_in'?"),
    "a damaged space": ("tune citeseer --space damaged.json", "Cannot read damaged.json as JSON"),
    "an unknown setting": ("tune citeseer --set epoch=3", "Did you mean 'epochs'?"),
    "a fixed setting that cannot be": ("tune citeseer --set drop_in=1", "not a dropout rate"),
    "no such device": ("tune citeseer --device gpu", "There is no device 'gpu'"),
    "no threads": ("tune citeseer --threads 0", "threads must be at least 1"),
    "store is a file": ("tune citeseer --store file", "Cannot write to the folder file"),
    "store of an older version": ("tune citeseer --store old", "was written by an older pcnet"),
    "store is no SQLite": ("tune citeseer --store text", "is damaged or no SQLite file"),
    "store is something else": ("tune citeseer --store full", "is not empty and holds no search"),
    "json is a folder": ("tune citeseer --json full", "Cannot write full: it is a folder"),
    "preset is no preset": ("train --preset empty.json", "empty.json is no preset"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, pcnet, place, written):
    (place / "file").write_text("mine")
    (place / "full").mkdir()
    (place / "full" / "something").write_text("mine")
    for folder, name in (("old", "journal.jsonl"), ("text", "trials.sqlite")):
        (place / folder).mkdir()
        (place / folder / name).write_text("{}" * 1000)
    (place / "empty.json").write_text("{}")
    (place / "typo.json").write_text('{"drop": [0.1]}')
    (place / "damaged.json").write_text("{")
    before = written()
    command, words = REFUSED[case]
    pcnet(*command.split()).refuses(words)
    assert written() == before
