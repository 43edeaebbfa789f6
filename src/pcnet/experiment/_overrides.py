"""`key=value` assignments on frozen settings."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from pcnet.errors import SettingError, close_match


def override(settings: Sequence[Any], assignments: Sequence[str]) -> list[Any]:
    """Apply each `key=value` to the dataclass that has the field.

    Values are read by the field's type: numbers, true/false, one of the allowed words, "none". A mapping such as `lr`
    takes `lr=0.01` for all its entries or `lr.theta=0.01` for one.
    """
    changed = list(settings)
    owners = {field.name: place for place, part in enumerate(settings) for field in dataclasses.fields(part)}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        field, dot, entry = name.strip().partition(".")
        if not equals:
            raise SettingError(f"'{assignment}' is not of the form key=value, as in --set t=0.5.")
        if field not in owners:
            raise SettingError(
                f"There is no setting '{field}'.{close_match(field, owners)} Known: {', '.join(owners)}."
            )
        place = owners[field]
        annotation = typing.get_type_hints(type(changed[place]))[field]
        current = getattr(changed[place], field)
        value: Any
        if isinstance(current, Mapping):
            number = _parse(name, text, float)
            value = {**current, entry: number} if dot else {"all": number}
        elif dot:
            raise SettingError(f"The setting '{field}' is one value; write {field}={text}.")
        else:
            value = _parse(name, text, annotation)
        changed[place] = dataclasses.replace(changed[place], **{field: value})
    return changed


def _parse(name: str, text: str, annotation: Any) -> Any:
    text = text.strip()
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        options = typing.get_args(annotation)
        if text.lower() == "none" and type(None) in options:
            return None
        return _parse(name, text, next(option for option in options if option is not type(None)))
    if origin is typing.Literal:
        choices = typing.get_args(annotation)
        if text not in choices:
            raise SettingError(
                f"{name} cannot be '{text}'; choose from {', '.join(choices)}.{close_match(text, choices)}"
            )
        return text
    if annotation is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in words:
            raise SettingError(f"{name} must be true or false, not '{text}'.")
        return words[text.lower()]
    kind = "a whole number" if annotation is int else "a number"
    try:
        return annotation(text)
    except ValueError:
        raise SettingError(f"{name} must be {kind}, not '{text}'.") from None
