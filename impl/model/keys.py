"""PRNG keys: arrays of an element type of their own, over the numbers that make them up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Array, Arrays
from .avals import Aval
from .buffers import row_major
from .operators import Operators
from .shardings import NamedSharding, Sharding
from .specs import PartitionSpec
from .words import shown

if TYPE_CHECKING:
    from .programs import Equation


class KeyType:
    """The element type of an array of keys: what users see of it, never its numbers."""

    name = "key<fry>"
    kind = "V"
    itemsize = 8

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return "KEY"  # there is one


KEY = KeyType()
NUMBERS = (2,)
"""The shape of the numbers beneath one key; they are unsigned and of 32 bits."""


def zeros(aval: Aval) -> np.ndarray:
    """Zeros of that aval, as programs have its value."""
    return np.zeros((*aval.shape, *NUMBERS), np.uint32) if aval.dtype is KEY else np.zeros(aval.shape, aval.dtype)


def elements(numbers: np.ndarray) -> np.ndarray:
    """The numbers beneath keys as one number for each key, so that there are as many as there are keys."""
    return np.ascontiguousarray(numbers).view(np.uint64)[..., 0]


def beneath(keys: np.ndarray) -> np.ndarray:
    """The other way round."""
    return np.ascontiguousarray(keys[..., None]).view(np.uint32)


class Keys(Arrays):
    """The steps that make keys and look beneath them."""

    def key(self, seed: Any) -> Any:
        """One key, as the default generator makes it of a seed."""
        if isinstance(seed, Operators) and _is_seed(seed):
            low = self._model.reshape(self._model.astype(seed, np.uint32), (1,))
            return self.wrap_key_data(self._model.concatenate([np.zeros(1, np.uint32), low]))
        if not _is_seed(seed):
            raise TypeError(f"the seed of a key is one integer: got {shown(seed)}")
        return self.wrap_key_data(np.array([0, int(seed) & 0xFFFFFFFF], np.uint32))

    def wrap_key_data(self, numbers: Any) -> Any:
        """An array of keys over those numbers, whose last dimension is that of one key; it shares their memory."""
        if not isinstance(numbers, Operators | np.ndarray | np.generic):
            raise TypeError(f"the numbers of keys are an array: got {shown(numbers)}")
        under = numbers if isinstance(numbers, Operators) else self._model.device_put(numbers)
        if under.dtype != np.uint32 or under.shape[-1:] != NUMBERS:
            raise TypeError(f"the numbers of keys are uint32[..., 2], not {under.dtype}{list(under.shape)}")
        if not isinstance(under, Array):
            return self._model.operation("wrap_key_data", [under], [Aval(under.shape[:-1], KEY)], {})[0]
        return self._over(under, Aval(under.shape[:-1], KEY), under.sharding, under.layout[:-1])

    def key_data(self, keys: Any) -> Any:
        """The numbers beneath an array of keys; they share its memory and its fate."""
        if not isinstance(keys, Operators) or keys.dtype is not KEY:
            raise TypeError(f"key_data takes an array of keys: got {shown(keys)}")
        aval = Aval((*keys.shape, *NUMBERS), np.dtype(np.uint32))
        if not isinstance(keys, Array):
            return self._model.operation("key_data", [keys], [aval], {})[0]
        return self._over(keys, aval, _longer(keys.sharding, keys.ndim), (*keys.layout, keys.ndim))

    def evaluate_key_data(self, equation: Equation, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """The numbers beneath are what the value of an array of keys is."""
        return values

    evaluate_wrap_key_data = evaluate_key_data

    def _over(self, x: Array, aval: Aval, sharding: Sharding, layout: tuple[int, ...]) -> Array:
        return Array(self._model, aval, sharding, x.buffers, x.committed, layout or row_major(len(aval.shape)))


def _is_seed(seed: Any) -> bool:
    if isinstance(seed, np.ndarray | Operators):
        return seed.shape == () and seed.dtype.kind in "iu"
    return isinstance(seed, int | np.integer)


def _longer(sharding: Sharding, ndim: int) -> Sharding:
    """The sharding of the numbers beneath: they are never cut within a key."""
    if not isinstance(sharding, NamedSharding):
        return sharding
    spec = [*sharding.spec, *[None] * (ndim - len(sharding.spec)), None]
    return sharding.with_spec(PartitionSpec(*spec))
