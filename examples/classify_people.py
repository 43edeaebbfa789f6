"""Two CSV files to predictions: read a graph, look at it, fit a classifier, ask it about nodes, keep it.

python examples/classify_people.py [FOLDER]        # FOLDER gets the classifier; ./people-classifier by default
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import pcnet
from pcnet.graph import edge_homophily

PEOPLE = Path(__file__).parent / "people"


def main(folder: Path) -> None:
    # People with an age, a town, a few words about themselves, and a sport, which 42 of them have not told.
    graph = pcnet.read_graph(PEOPLE)
    for note in graph.notes:
        print(f"note: {note}")
    print(f"{graph.num_nodes} people, {graph.num_features} features, {graph.class_names}")
    print(f"{edge_homophily(graph):.0%} of friends who told it do the same sport")

    # A fifth of those who told it are put aside: they say how good the predictions are.
    known = np.flatnonzero(graph.y.numpy() >= 0)
    asked = np.random.default_rng(0).permutation(known)
    test, train = asked[: len(asked) // 5], asked[len(asked) // 5 :]
    classifier = pcnet.NodeClassifier().fit(graph, train_mask=train)
    print(f"{classifier.score(nodes=test):.0%} of {len(test)} people put aside were predicted right")
    print(f"probabilities are off by {classifier.calibration_error_:.0%} on average on validation nodes")

    # What to believe about those who have not told it, the surest first.
    probabilities, answers = classifier.predict_proba(), classifier.predict()
    unknown = np.flatnonzero(graph.y.numpy() < 0)
    for node in unknown[np.argsort(-probabilities[unknown].max(axis=1))][:5]:
        print(f"  {graph.node_names[node]}: {answers[node]} ({probabilities[node].max():.0%})")

    # No pickle: safetensors and JSON, with the columns it was trained on.
    classifier.save(folder)
    again = pcnet.NodeClassifier.load(folder)
    assert (again.predict(graph) == answers).all()
    print(f"kept in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "people-classifier"))
