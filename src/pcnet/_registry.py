"""Things that come in many kinds, found by name: methods, readers, protocols, losses, metrics."""

from __future__ import annotations

from typing import TypeVar

from pcnet.errors import PcnetError, unknown

T = TypeVar("T")


class Registry(dict[str, T]):
    """What has been added, by its name in small letters and in the order in which it was added.

    >>> losses = Registry[float]("loss")
    >>> losses.add("focal", 2.0)
    >>> losses.named("Focal")
    2.0
    """

    def __init__(self, what: str) -> None:
        #: What each entry is called in messages, as in "There is no method 'gxn'".
        self.what = what

    def add(self, name: str, entry: T, *, replace: bool = False) -> None:
        """Register an entry; a name can be taken only once, unless the entry is meant to replace the one before."""
        if name.lower() in self and not replace:
            raise PcnetError(f"There is a {self.what} '{name}' already; choose another name.")
        self[name.lower()] = entry

    def sort(self, first: str) -> None:
        """Order what has been added so far by its names, after the one that comes first."""
        ordered = sorted(self.items(), key=lambda entry: (entry[0] != first, entry[0]))
        self.clear()
        self.update(ordered)

    def remove(self, name: str) -> None:
        """Forget an entry, in a session that tries things out."""
        del self[name.lower()]

    def named(self, name: str) -> T:
        """The entry of this name in any case; a PcnetError lists the known names when there is none."""
        if name.lower() not in self:
            raise unknown(self.what, name, self)
        return self[name.lower()]
