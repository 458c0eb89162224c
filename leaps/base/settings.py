"""Change the settings of a configuration by text, as commands do with --set NAME=VALUE."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

Settings = TypeVar("Settings")


def changed(settings: Settings, changes: Mapping[str, str]) -> Settings:
    """Return a configuration (a frozen dataclass) with some settings changed.

    A dot leads to a nested configuration: model.embedding=256. "none" sets an optional setting to None.
    """
    hints = get_type_hints(type(settings))
    known = [field.name for field in fields(settings) if not is_dataclass(hints[field.name])]  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    inner: dict[str, dict[str, str]] = {}
    for name, text in changes.items():
        outer, dot, rest = name.partition(".")
        if dot and is_dataclass(getattr(settings, outer, None)):
            inner.setdefault(outer, {})[rest] = text
        elif name not in known:
            raise ValueError(f"unknown setting {name!r}; expected one of {', '.join(known)}")
        else:
            value = getattr(settings, name)
            try:
                values[name] = _read(text, value, get_args(hints[name]))
            except (KeyError, ValueError):
                raise ValueError(f"{name}: expected a value like {value}, found {text!r}") from None
    values |= {name: changed(getattr(settings, name), rest) for name, rest in inner.items()}
    return replace(settings, **values)  # type: ignore[type-var]


def _read(text: str, value: object, parts: tuple[Any, ...]) -> Any:
    """Read a value of the same type as `value`, or of one of the union's `parts` where that is None."""
    if NoneType in parts and text.lower() == "none":
        return None
    kind: Any = next(part for part in parts if part is not NoneType) if value is None else type(value)
    return {"true": True, "false": False}[text.lower()] if kind is bool else kind(text)
