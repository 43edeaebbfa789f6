"""Text that users gave (names of columns, classes, nodes, files) on its way to terminals, Markdown and tables."""

from __future__ import annotations

import re

#: Characters that a terminal obeys or that turn the direction of a line, and what stands for them: ␛ for escape.
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
_OTHERS = [*range(0x80, 0xA0), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = _PICTURES | dict.fromkeys(_OTHERS, 0xFFFD)


def visible(text: str) -> str:
    """The text with every control character but tab and line break as a picture of it.

    >>> visible("a\\x1b[31mred")
    'a␛[31mred'
    """
    return text if text.isprintable() else text.translate(_VISIBLE)


def markdown(text: str) -> str:
    """One line of Markdown that shows the text as it stands.

    >>> print(markdown("<b> *x* [a](b)"))
    \\<b> \\*x\\* [a]\\(b)
    """
    line = re.sub(r"\s*[\r\n]+\s*", " ", text)
    return visible(re.sub(r"[\\`*_<]|(?<=\])\(", r"\\\g<0>", line))


def code(text: str) -> str:
    """The same as code, with more backticks around it than there are in it."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " * (len(fence) > 1)
    return f"{fence}{space}{visible(' '.join(text.splitlines()))}{space}{fence}"


def is_formula(value: object) -> bool:
    """Whether a spreadsheet would compute a text instead of showing it; numbers are not meant.

    >>> [is_formula(each) for each in ("=1+1", "@SUM(A1)", "+x", "-3.5", "a=b", -3)]
    [True, True, True, False, False, False]
    """
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return False
    return re.fullmatch(r"[+-]\d+(\.\d*)?([eE][+-]?\d+)?", value) is None


def inert(value: object) -> object:
    """A cell of a table that a spreadsheet shows as it stands: formulas get an apostrophe in front.

    >>> inert("=1+1"), inert("plain")
    ("'=1+1", 'plain')
    """
    return f"'{value}" if is_formula(value) else value
