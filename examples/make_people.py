"""`python examples/make_people.py [FOLDER]`: a club whose members' favourite sport is to be guessed.

Friends often share their sport, what people say about themselves hints at it, and one member in four has not said.
Without a folder it is `examples/people`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

SPORTS = ("climbing", "rowing", "tennis")
TOWNS = ("Ashby", "Brook End", "Coldharbour", "Dunmore")
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gwen", "Hugo", "Ida", "Jon", "Kit", "Lena", "Max", "Nora", "Otto")
#: Words that a member of each club likes to use, and words that everybody does.
WORDS = (
    ("rope", "rock", "mountain", "chalk", "wall"),
    ("river", "boat", "oar", "early", "water"),
    ("court", "racket", "serve", "match", "ball"),
)
COMMON = ("friends", "weekend", "music", "coffee", "books", "dog", "travel", "garden", "cooking", "films")
MEMBERS = 160
FRIENDS_WITHIN, FRIENDS_ACROSS = 0.04, 0.014
OWN_WORD, UNKNOWN = 0.22, 0.25


def main(folder: Path) -> None:
    random = np.random.default_rng(24)
    sport = random.integers(len(SPORTS), size=MEMBERS)
    names = [f"{NAMES[node % len(NAMES)].lower()}{1 + node // len(NAMES):02d}" for node in range(MEMBERS)]
    age = np.round(random.normal(38 + 4 * (sport - 1), 11)).clip(18, 80).astype(int)
    member = random.random(MEMBERS) < 0.5 + 0.15 * (sport == 1)
    town = np.where(random.random(MEMBERS) < 0.4, sport, random.integers(len(TOWNS), size=MEMBERS))
    known = random.random(MEMBERS) >= UNKNOWN
    rows = [
        (
            names[node],
            SPORTS[sport[node]] if known[node] else "",
            age[node],
            "yes" if member[node] else "no",
            TOWNS[town[node]],
            about(random, sport[node]),
        )
        for node in range(MEMBERS)
    ]
    write(folder / "nodes.csv", ("id", "label", "age", "member", "town", "about"), rows)
    write(folder / "edges.csv", ("source", "target"), friendships(random, sport, names))


def about(random: np.random.Generator, sport: int) -> str:
    """Four to seven words, some of them of the sport."""
    count = random.integers(4, 8)
    own = random.random(count) < OWN_WORD
    return " ".join(str(random.choice(WORDS[sport] if mine else COMMON)) for mine in own)


def friendships(random: np.random.Generator, sport: np.ndarray, names: Sequence[str]) -> list[tuple[str, str]]:
    """Every pair by chance, more likely within a sport."""
    chance = np.where(sport[:, None] == sport, FRIENDS_WITHIN, FRIENDS_ACROSS)
    pairs = np.argwhere(np.triu(random.random((MEMBERS, MEMBERS)) < chance, k=1))
    return [(names[one], names[other]) for one, other in pairs]


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("people"))
