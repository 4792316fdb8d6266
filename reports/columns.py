"""Columns that are checked, filled a row at a time and turned into a pandas frame; lean for millions of rows."""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

LONGEST_WORD = 1000
DEEPEST = 40
REQUIRED = object()
"""The default of a column that a record must have."""
_STORE = {"category": "i", "bool": "b", "int64": "q", "float64": "d"}


class FieldError(ValueError):
    """A field does not hold what its column is for; the message completes "field 'x' ..."."""


@dataclass(frozen=True)
class Column:
    """One field of a record: how it is checked, what it is when absent, the dtype of its column."""

    name: str
    check: Callable[[Any], Any]
    default: Any = REQUIRED
    dtype: Literal["category", "bool", "int64", "float64"] = "category"


def word(value: Any) -> str:
    """A name: a string, not empty, of a sensible length."""
    if type(value) is not str or not value:
        raise FieldError("is not a name")
    if len(value) > LONGEST_WORD:
        raise FieldError(f"is {len(value):,} characters long")
    return value


def word_or_none(value: Any) -> str | None:
    """A name or null."""
    return None if value is None else word(value)


def text(value: Any) -> str:
    """A string of any length."""
    if type(value) is not str:
        raise FieldError("is not text")
    return value


def text_or_none(value: Any) -> str | None:
    """A string of any length, or null."""
    return None if value is None else text(value)


def one_of(choices: Sequence[str]) -> Callable[[Any], str]:
    """One of a few words."""
    known = frozenset(choices)

    def check(value: Any) -> str:
        if type(value) is not str or value not in known:
            raise FieldError(f"is none of {', '.join(choices)}")
        return value

    return check


def flag(value: Any) -> bool:
    """True or false."""
    if type(value) is not bool:
        raise FieldError("is neither true nor false")
    return value


def count(value: Any) -> int:
    """A whole number from zero up."""
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise FieldError("is not a count")
    return value


def count_or_none(value: Any) -> int | None:
    """A whole number from zero up, or null."""
    return None if value is None else count(value)


def counts(value: Any) -> dict[str, int]:
    """Names with their counts."""
    if type(value) is not dict:
        raise FieldError("is not an object")
    return {word(name): count(number) for name, number in value.items()}


def texts(value: Any) -> dict[str, str]:
    """Names with their texts."""
    if type(value) is not dict:
        raise FieldError("is not an object")
    return {word(name): text(of) for name, of in value.items()}


def seconds(value: Any) -> float:
    """A finite number from zero up."""
    if type(value) not in (int, float) or not 0 <= value <= sys.float_info.max:
        raise FieldError("is not a number of seconds")
    return float(value)


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def data(value: Any) -> str:
    """A JSON object, kept as its canonical text: equal objects have equal text."""
    if type(value) is not dict:
        raise FieldError("is not an object")
    if not value:
        return "{}"
    try:
        canonical = _canonical(value)
    except RecursionError:
        raise FieldError("is nested too deeply") from None
    except ValueError:
        raise FieldError("holds a number that is not finite") from None
    if canonical.count("[") + canonical.count("{") > DEEPEST and _depth(value) > DEEPEST:
        raise FieldError("is nested too deeply")
    return canonical


def _depth(value: Any) -> int:
    deepest, todo = 0, [(value, 1)]
    while todo:
        value, depth = todo.pop()
        if isinstance(value, dict | list):
            deepest = max(deepest, depth)
            todo.extend((item, depth + 1) for item in (value.values() if isinstance(value, dict) else value))
    return deepest


def checked(columns: Sequence[Column], record: Mapping[str, Any]) -> list[Any]:
    """The record's values in the order of the columns; further fields are ignored. Raises `FieldError`."""
    return [_checked(column, record.get(column.name, column.default)) for column in columns]


def _checked(column: Column, value: Any) -> Any:
    if value is REQUIRED:
        raise FieldError(f"field '{column.name}' is missing")
    try:
        return column.check(value)
    except FieldError as error:
        raise FieldError(f"field '{column.name}' {error}") from None


class Rows:
    """Rows under columns. Text is kept once per distinct value, as a code per row."""

    def __init__(self, columns: Sequence[Column], key: Sequence[str]) -> None:
        """Rows that agree in every column of `key` are the same row."""
        self._columns = columns
        self._key = [i for i, column in enumerate(columns) if column.name in key]
        self._stores: list[array[Any]] = [array(_STORE[column.dtype]) for column in columns]
        self._codes: list[dict[str, int]] = [{} for _ in columns]
        self._rows: dict[tuple[int, ...], int] = {}

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def put(self, record: Mapping[str, Any]) -> bool:
        """Add the record as a row, or in place of the one of the same key (then true). Raises `FieldError`."""
        coded = []
        for column, codes in zip(self._columns, self._codes, strict=True):
            value = record.get(column.name, column.default)
            if type(value) is str and value in codes and column.check is not data:
                coded.append(codes[value])  # checked when it came first
                continue
            value = _checked(column, value)
            if column.dtype == "category":
                value = -1 if value is None else codes.setdefault(value, len(codes))
            coded.append(value)
        new = len(self._rows)
        row = self._rows.setdefault(tuple([coded[i] for i in self._key]), new)
        if row == new:
            for store, value in zip(self._stores, coded, strict=True):
                store.append(value)
        else:
            for store, value in zip(self._stores, coded, strict=True):
                store[row] = value
        return row != new

    def frame(self) -> pd.DataFrame:
        """The rows as a frame, in the order in which they first came."""
        import numpy as np
        import pandas as pd

        made: dict[str, Any] = {}
        for column, store, codes in zip(self._columns, self._stores, self._codes, strict=True):
            values = np.array(store)
            if column.dtype == "category":
                # Categories are plain objects, so that no other version of pandas gives them another dtype.
                made[column.name] = pd.Categorical.from_codes(values, pd.Index(list(codes), dtype=object))
            else:
                made[column.name] = values.astype(column.dtype)
        return pd.DataFrame(made)
