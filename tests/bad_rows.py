"""How bad input is written down: a user's call, and what has to come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Act = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Bad:
    """A call that is refused: `act` gets the namespace and what `given` has; `words` are in the model's message.

    Where JAX answers otherwise, `why` says what it does, and `raises` is the model's class, "" where it accepts the
    call. What JAX dies of (`fatal`) it is not asked.
    """

    act: Act
    words: tuple[str, ...] = ()
    why: str = ""
    raises: str = ""
    fatal: bool = False


def bad(act: Act, words: str = "", *, fatal: bool = False) -> Bad:
    """A call that JAX refuses with the same class."""
    return Bad(act, _split(words), fatal=fatal)


def differs(why: str, raises: str, act: Act, words: str = "") -> Bad:
    """A call that JAX accepts, or refuses with another class."""
    return Bad(act, _split(words), why, raises)


def _split(words: str) -> tuple[str, ...]:
    return tuple(filter(None, words.split(" | ")))


ABSTRACT = "JAX says that the method is abstract, which is all that arrays of keys have of it"
ACCIDENT = "JAX fails in its own code on the way; the contract asks for an error that says what is wrong"
LATER = "JAX takes it here, and fails where it is used"
NOT_HERE = "JAX has it, and the model does not"


# --- what users write -------------------------------------------------------------------------------------------------


class Opaque:
    """What is no array."""

    def __repr__(self):
        return "Opaque()"


def double(x):
    return x * 2


def both(first, second):
    return first + second


def added(tree):
    return tree["a"] + tree["b"]


def leaked(jax, a):
    """A tracer of a function that is traced no more."""
    kept = []

    def f(x):
        kept.append(x)
        return x

    jax.jit(f)(a.x)
    return kept[0]
