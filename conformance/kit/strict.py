"""Reads TOML files into frozen dataclasses: nothing unknown passes, nothing is converted in silence.

Whatever is wrong becomes a `Mistake`: one line that names the file, the place in it, and the way out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from fnmatch import translate
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from cattrs import ClassValidationError, Converter, ForbiddenExtraKeysError, transform_error
from cattrs.gen import make_dict_structure_fn, make_mapping_structure_fn

T = TypeVar("T")


class Mistake(Exception):  # noqa: N818
    """A user's mistake, told in one line that names the thing and the way out."""


@dataclass(frozen=True)
class Globs:
    """One or several fnmatch patterns; any of them may match."""

    patterns: tuple[str, ...]

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile("|".join(map(translate, self.patterns)))

    def match(self, value: object) -> bool:
        """Whether the text of `value` matches; true and false are spelled as TOML spells them."""
        return self._regex.match(str(value).lower() if isinstance(value, bool) else str(value)) is not None

    def __str__(self) -> str:
        return " | ".join(self.patterns)


def read(path: Path, form: type[T]) -> T:
    """The file as an instance of `form`, or a `Mistake`."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Mistake(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # not UTF-8, or not TOML
        raise Mistake(f"{path}: not a TOML file: {_line(error)}") from None
    except RecursionError:
        raise Mistake(f"{path}: nested too deeply; write it flatter") from None
    try:
        return CONVERTER.structure(data, form)
    except ClassValidationError as error:
        complaints = [_place(complaint, data) for complaint in transform_error(error, "", _complaint)]
        complaints.sort(key=lambda complaint: "unknown key" not in complaint)  # it explains what is missing
        more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
        raise Mistake(f"{path}: {complaints[0]}{more}") from None


def _complaint(error: BaseException, _: type | None) -> str:
    match error:
        case ForbiddenExtraKeysError():
            known = ", ".join(field.name for field in fields(error.cl))
            return f"unknown key {', '.join(sorted(error.extra_fields))}; the keys are {known}"
        case KeyError():
            return "missing; write it"
    return _line(error)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _place(complaint: str, data: Any) -> str:
    """cattrs' `WHAT @ .rule[3].level` as `rule 4 (PUT-04), level: WHAT`."""
    what, _, path = complaint.rpartition(" @ ")
    names = []
    for key, index in re.findall(r"\.?([^.\[\]]+)|\['?([^\]']+)'?\]", path):
        try:
            data = data[key] if key else data[int(index) if index.isdecimal() else index]
        except (LookupError, TypeError, ValueError):
            data = None
        if key:
            names.append(key)
        elif isinstance(data, dict) and isinstance(data.get("id"), str):
            names[-1] += f" {int(index) + 1} ({data['id']})"
        else:
            names[-1] += f" {int(index) + 1}" if index.isdecimal() else f", {index}"
    return f"{', '.join(names)}: {what}" if names else what


def _exactly(form: type) -> Any:
    def structure(value: Any, _: type) -> Any:
        if type(value) is not form:
            raise ValueError(f"{value!r} is not of the kind expected here ({NAMES[form]})")
        return value

    return structure


def _globs(value: Any, _: type) -> Globs:
    values = value if isinstance(value, list) else [value]
    texts = [str(it).lower() if isinstance(it, bool) else it for it in values]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ValueError(f"{value!r} is neither a pattern nor a list of patterns")
    return Globs(tuple(texts))


def _is_table(form: Any) -> bool:
    return is_dataclass(form) or get_origin(form) is dict


def _table(form: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    make: Any = make_dict_structure_fn if is_dataclass(form) else make_mapping_structure_fn
    filled = make(form, converter)

    def structure(value: Any, _: type) -> Any:
        if not isinstance(value, dict):
            raise ValueError(f"{value!r} is not a table")
        return filled(value, form)

    return structure


def _is_tuple(form: Any) -> bool:
    return get_origin(form) is tuple


def _listed(form: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    inner = converter.get_structure_hook(list[get_args(form)[0]])  # type: ignore[misc]

    def structure(value: Any, _: type) -> Any:
        if not isinstance(value, list):
            raise ValueError(f"{value!r} is not a list")
        return tuple(inner(value, list))

    return structure


NAMES = {str: "a string", int: "a whole number", bool: "true or false", date: "a date such as 2027-06-01"}
CONVERTER = Converter(forbid_extra_keys=True)
CONVERTER.register_structure_hook_factory(_is_table, _table)
CONVERTER.register_structure_hook_factory(_is_tuple, _listed)
CONVERTER.register_structure_hook(Globs, _globs)
for kind in NAMES:
    CONVERTER.register_structure_hook(kind, _exactly(kind))
