"""What is made once of a matrix is kept exactly as long as the matrix is."""

from __future__ import annotations

import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import torch

from pcnet.graph import CSR, made_once


def matrix() -> CSR:
    return CSR.from_torch(torch.eye(3).to_sparse())


def counted(**pause: float):
    """A function that makes a tensor of a matrix, and how often it did so."""
    made = []

    @made_once
    def make(of: CSR, power: int, *, loud: bool = False) -> torch.Tensor:
        time.sleep(pause.get("seconds", 0))
        made.append((of.shape, power, loud))
        return of.to_dense().matrix_power(power)

    return make, made


def test_each_kind_of_each_matrix_is_made_once():
    (make, made), first, second = counted(), matrix(), matrix()
    assert make(first, 2) is make(first, 2) is make(first, 2, loud=True)
    assert make(first, 3) is not make(first, 2)
    assert make(second, 2) is not make(first, 2)
    assert [power for _, power, _ in made] == [2, 3, 2]


def test_what_was_made_goes_with_the_matrix():
    (make, _), of = counted(), matrix()
    gone = weakref.ref(make(of, 2)), weakref.ref(of)
    del of
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_the_latest_kinds_are_kept():
    (make, made), of = counted(), matrix()
    for power in [*range(9), 8, 1, 0]:
        make(of, power)
    assert [power for _, power, _ in made] == [*range(9), 0]


def test_threads_wait_for_the_one_that_makes_it():
    (make, made), of = counted(seconds=0.05), matrix()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: make(of, 2), range(4)))
    assert len(made) == 1
    assert all(each is found[0] for each in found)
