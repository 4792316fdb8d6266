"""What a program says of itself before it runs: its arguments, its results, and where they lie."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from . import trees
from .agreement import Call
from .avals import Aval, ShapeDtypeStruct
from .programs import Equation
from .running import Lowered, Programs
from .shardings import Sharding
from .texts import size


@dataclass(frozen=True)
class ArgInfo:
    """What is known of an argument: its shape and dtype, and whether it is donated."""

    shape: tuple[int, ...]
    dtype: Any
    donated: bool


class Infos(Programs):
    """The steps that answer what a lowered or a compiled program is asked."""

    # --- arguments ----------------------------------------------------------------------------------------------------

    def argument_tree(self, tree: trees.Tree) -> trees.Tree:
        """The structure of the arguments by position and by name, without static ones. AOT-13."""
        return tree

    def argument_avals(self, call: Call) -> list[Aval]:
        """What calls have to fit: the aval of each argument, used or not. AOT-14."""
        return [it.aval for it in call.arguments]

    def argument_infos(self, call: Call) -> list[ArgInfo]:
        """The shape and dtype of each argument, and whether it is donated. AOT-15, AOT-16."""
        return [ArgInfo(it.aval.shape, it.aval.dtype, it.donated) for it in call.arguments]

    def donated_numbers(self, call: Call) -> tuple[int, ...]:
        """The donated arrays by their numbers among all arrays of the arguments. AOT-17."""
        return tuple(number for number, it in enumerate(call.arguments) if it.donated)

    def argument_shardings(self, lowered: Lowered) -> list[Sharding]:
        """How a compiled program takes each argument, also one that it does not use. AOT-18, AOT-67."""
        return list(lowered.ins)

    # --- results ------------------------------------------------------------------------------------------------------

    def result_tree(self, call: Call) -> trees.Tree:
        """The structure of what the function returns. AOT-05, AOT-20, AOT-22."""
        return call.program.tree

    def result_infos(self, call: Call) -> list[ShapeDtypeStruct]:
        """What stands for each result: its shape and dtype, and where out_shardings place it. AOT-19, AOT-21."""
        infos = map(struct, call.program.avals)
        return [it if lies is None else replace(it, sharding=lies) for it, lies in zip(infos, call.outs, strict=True)]

    def result_shardings(self, lowered: Lowered) -> list[Sharding]:
        """Where a compiled program leaves each result. AOT-23, AOT-25."""
        return list(lowered.outs)

    def ready_infos(self, lowered: Lowered) -> list[ShapeDtypeStruct]:
        """What stands for each result of a compiled program: for the very array, sharding and all. AOT-24, AOT-25."""
        infos = [struct(it) for it in lowered.call.program.avals]
        return [replace(it, sharding=lies) for it, lies in zip(infos, self.result_shardings(lowered), strict=True)]

    # --- cost ---------------------------------------------------------------------------------------------------------

    def cost(self, call: Call) -> dict[str, float]:
        """What a lowered program costs as a whole, wherever it will run. AOT-48, AOT-49, AOT-50."""
        flops = sum(map(self.flops, call.program.equations))
        return {"flops": float(flops), "bytes accessed": float(sum(map(_accessed, call.program.equations)))}

    def compiled_cost(self, lowered: Lowered) -> dict[str, float]:
        """What a compiled program costs on each device; on one, as much as the whole. AOT-51, AOT-52, AOT-53."""
        share = 1 if lowered.home is None else max(_count(it, aval) for it, aval in _results(lowered))
        return {name: cost / share for name, cost in self.cost(lowered.call).items()}

    def flops(self, equation: Equation) -> int:
        """How many operations on numbers an operation is: for a product of matrices, an addition to each product.

        AOT-49.
        """
        if "programs" in equation.params:
            return sum(self.flops(it) for program in equation.params["programs"] for it in program.equations)
        sizes = [math.prod(var.aval.shape) for var in equation.outputs]
        if equation.name == "matmul":
            return 2 * sizes[0] * equation.avals[0].shape[-1]
        return sum(sizes)


def _accessed(equation: Equation) -> int:
    """How many bytes an operation reads and writes."""
    return sum(size(var.aval.shape, var.aval.dtype) for var in (*equation.inputs, *equation.outputs))


def _results(lowered: Lowered) -> list[tuple[Sharding, Aval]]:
    return [*zip(lowered.outs, lowered.call.program.avals, strict=True)]


def _count(sharding: Sharding, aval: Aval) -> int:
    """Into how many parts a sharding cuts an array."""
    return math.prod(sharding.tiling(aval.ndim).counts)


def struct(aval: Aval) -> ShapeDtypeStruct:
    """What stands for an array of which that is known."""
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)
