"""The one error a user of pcnet is meant to see, the one warning, and Ctrl-C."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable


class PcnetError(ValueError):
    """A sentence that says what is wrong with the input and what to do about it.

    >>> try:
    ...     pcnet.load_dataset("coraa")
    ... except pcnet.PcnetError as error:
    ...     print(error)
    There is no dataset 'coraa'. Did you mean 'cora'?...
    """


class SettingError(PcnetError):
    """An assignment that a method cannot take: it has no such setting, or the value is of another kind."""


class PcnetWarning(UserWarning):
    """Something legal that probably is not what was meant; Python's filters turn it into an error, or silence it.

    >>> import warnings
    >>> warnings.simplefilter("ignore", pcnet.PcnetWarning)
    """


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C, with a sentence on how to go on."""


#: Warnings that this process has heard.
_already_said: set[str] = set()


def warn_once(messages: Iterable[str]) -> None:
    """Issue each sentence as a `PcnetWarning` about the caller's caller, but never the same one twice in a process."""
    for message in messages:
        if message not in _already_said:
            _already_said.add(message)
            warnings.warn(message, PcnetWarning, stacklevel=3)


def unknown(what: str, name: str, known: Iterable[str]) -> PcnetError:
    """What to raise for a name that is none of the known ones."""
    names = list(known)
    return PcnetError(f"There is no {what} '{name}'; choose from {', '.join(names)}.{close_match(name, names)}")


def close_match(name: str, known: Iterable[str]) -> str:
    """`" Did you mean 'cora'?"` for the nearest known name, or an empty string."""
    lowered = {candidate.lower(): candidate for candidate in known}
    match = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.5)
    return f" Did you mean '{lowered[match[0]]}'?" if match else ""
