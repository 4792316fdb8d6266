"""Operations that hold programs or places: constraints and puts within programs, loops, branches and shard_map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import trees
from .agreement import Argument
from .arrays import Array
from .avals import Aval, aval_of
from .binding import bind, name_of
from .contexts import HELD, tracing_now
from .jit import Jits
from .keys import zeros
from .layouts import Format
from .meshes import AbstractMesh, Axes, Mesh
from .programs import Equation, Program, Var
from .put import Puts, Row, Target
from .shardings import NamedSharding, Sharding, abstract, laid_over
from .specs import PartitionSpec
from .words import function, shown

Values = Sequence[np.ndarray]


class Control(Puts, Jits):
    """The steps of those operations: how users write them, and what they do to values."""

    # --- places within programs ---------------------------------------------------------------------------------------

    def with_sharding_constraint(self, x: Any, shardings: Any) -> Any:
        """Lays out arrays within a program; a bare spec names axes of the mesh in context.

        Each leaf of a pytree has its own. ABS-75, ABS-76, DEV-06, DEV-33, DON-54.
        """
        leaves, tree = trees.flatten(x)
        constraints = self.prefixed(shardings, tree, "with_sharding_constraint", self.mesh_in_context())
        if None in constraints:
            raise ValueError("with_sharding_constraint takes a sharding or a spec for each array: got None")
        return trees.unflatten(
            tree,
            [
                self.constrain(leaf, sharding, f"x{path}")
                for leaf, sharding, path in zip(leaves, constraints, tree.paths, strict=True)
                if sharding is not None
            ],
        )

    def constrain(self, x: Any, sharding: Sharding, name: str = "x") -> Any:
        """One array, laid out; within a program it may be cut unevenly, and its result is whole then."""
        aval = aval_of(x)
        if tracing_now() is None and abstract(sharding):
            return self.constrain_alone(x, sharding, name)
        lies = sharding if tracing_now() is None else _even(sharding, aval.shape)
        lies.check(aval.shape)
        params = {"sharding": sharding, "shardings": (lies,)}
        return self.operation("sharding_constraint", [x], [aval], params, [(name, 0)])[0]

    def constrain_alone(self, x: Any, sharding: NamedSharding, name: str) -> Any:
        """A constraint over an abstract mesh outside of a program: its input says where.

        ABS-20, ABS-21, ABS-22, ABS-23, ABS-26, ABS-27, ABS-28, ABS-74.
        """
        sharding.check_rank(aval_of(x).shape)
        mesh = self.mesh_of("with_sharding_constraint", name, x, sharding.mesh.abstract_mesh)
        return self.constrain(x, laid_over(mesh, sharding), name)

    def mesh_of(self, what: str, name: str, x: Any, mesh: AbstractMesh) -> Mesh:
        """The mesh with devices that an operation on its own takes from an input, for the abstract mesh it is given.

        ABS-25, ABS-26, ABS-27, ABS-28.
        """
        if not isinstance(x, Array):
            raise self.input_refused(what, name, f"a value of type {type(x).__name__}", mesh)
        if not isinstance(x.sharding, NamedSharding) or not isinstance(x.sharding.mesh, Mesh):
            raise self.input_refused(what, name, f"an array with a {self.word_class(x)}", mesh)
        if not self.same_axes(x.sharding.mesh, mesh):
            raise self.input_refused(what, name, f"an array over {x.sharding.mesh}", mesh)
        return x.sharding.mesh

    def same_axes(self, mesh: Mesh, other: AbstractMesh) -> bool:
        """Whether two meshes have axes of the same names and sizes, in the same order. ABS-24, ABS-25."""
        return mesh.shape_tuple == other.shape_tuple

    def word_class(self, x: Array) -> str:
        """The class of an array's sharding, and whether it is bound to its devices. ABS-32."""
        return type(x.sharding).__name__ + ("" if x.committed else ", committed nowhere")

    def input_refused(self, what: str, name: str, got: str, mesh: AbstractMesh) -> Exception:
        """The error that an input does not say on which devices an abstract mesh is. ABS-29, ABS-30, ABS-31, ABS-33."""
        return ValueError(
            f"{what} over {mesh} outside of a program takes its devices from its input, an Array with a NamedSharding "
            f"over a mesh of the same names and sizes: argument {name} is {got}"
        )

    def put_inside(self, x: Any, target: Target, row: Row) -> Any:
        """A put within a program: its flags were checked, and promise no more than a result of its own. PUT-55."""
        stays = target is None or (isinstance(target, Format) and target.sharding is None)
        sharding = None if stays else self.place(x, target).sharding
        params = {"sharding": sharding, "shardings": (sharding,), "target": target, "row": row}
        return self.operation("device_put", [x], [aval_of(x)], params)[0]

    def evaluate_sharding_constraint(self, equation: Equation, values: Values) -> Values:
        """A constraint is about places alone. DEV-20, SHD-51."""
        return values

    def evaluate_device_put(self, equation: Equation, values: Values) -> Values:
        """A put within a program changes no value. PUT-55."""
        return values

    # --- loops and branches -------------------------------------------------------------------------------------------

    def scan(
        self, f: Callable[..., Any], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False
    ) -> Any:
        """A loop over the first dimension of arrays that carries a state along."""
        name = name_of(function(f, "scan"))
        carry, carry_tree = trees.flatten(init)
        rows, rows_tree = trees.flatten(xs)
        size = _length(rows, length)

        def body(*arrays: Any) -> Any:
            state = trees.unflatten(carry_tree, arrays[: len(carry)])
            returned = f(state, trees.unflatten(rows_tree, arrays[len(carry) :]))
            if not (isinstance(returned, tuple) and len(returned) == 2):
                raise TypeError(f"{name}, which scan was given, returns a pair of state and output: got {returned!r}")
            return returned

        ahead = [aval_of(x).with_shape(aval_of(x).shape[1:]) for x in rows]
        carry, program = self._settled(name, "scan", body, carry, ahead, lambda tree: tree.children[0], carry_tree)
        outputs = program.avals[len(carry) :]
        stacked = [it.with_shape((size, *it.shape)) for it in outputs]
        params = {"programs": (program,), "carried": len(carry), "length": size, "reverse": reverse}
        operands = [*carry, *rows, *program.captured]
        found = self.operation(
            "scan", operands, [*program.avals[: len(carry)], *stacked], params, _called("init", carry)
        )
        return program.result(found)

    def evaluate_scan(self, equation: Equation, values: Values) -> Values:
        """Each step takes the state that the last one gave, and a row. ABS-13, DON-74."""
        (program,), count = equation.params["programs"], equation.params["carried"]
        rows = len(program.inputs) - len(program.captured) - count
        state, xs, captured = values[:count], values[count : count + rows], values[count + rows :]
        outputs = [zeros(var.aval) for var in equation.outputs[count:]]
        steps = range(equation.params["length"])
        for i in steps[::-1] if equation.params["reverse"] else steps:
            found = self.evaluate(program, [*state, *(x[i] for x in xs), *captured])
            state = found[:count]
            for output, value in zip(outputs, found[count:], strict=True):
                output[i] = value
        return [*state, *outputs]

    def while_loop(self, cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any) -> Any:
        """A loop that goes on for as long as a function says."""
        function(cond_fun, "while_loop"), function(body_fun, "while_loop")
        carry, tree = trees.flatten(init_val)

        def body(*arrays: Any) -> Any:
            return body_fun(trees.unflatten(tree, arrays))

        carry, program = self._settled(name_of(body_fun), "while_loop", body, carry, [], lambda tree: tree, tree)
        avals = [aval_of(x) for x in carry]
        test = self.trace(name_of(cond_fun), lambda *arrays: cond_fun(trees.unflatten(tree, arrays)), avals)
        if test.tree != trees.LEAF or (test.avals[0].shape, test.avals[0].dtype) != ((), np.dtype(bool)):
            raise TypeError(f"{test.name} says whether while_loop goes on, as one bool: got {_types(test.avals)}")
        operands = [*carry, *program.captured, *test.captured]
        params = {"programs": (program, test)}
        return program.result(self.operation("while", operands, program.avals, params, _called("init_val", carry)))

    def evaluate_while(self, equation: Equation, values: Values) -> Values:
        """Each step takes what the last one gave."""
        program, test = equation.params["programs"]
        count, captured = len(program.outputs), len(program.captured)
        state, of_body, of_test = values[:count], values[count : count + captured], values[count + captured :]
        while self.evaluate(test, [*state, *of_test])[0]:
            state = self.evaluate(program, [*state, *of_body])
        return state

    def cond(self, pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
        """One of two functions, as a bool says."""
        if np.shape(pred):
            raise TypeError(f"cond decides by one bool: got an array of shape {np.shape(pred)}")
        leaves, tree = trees.flatten(operands)
        avals = [aval_of(x) for x in leaves]
        branches = [
            self.trace(name_of(function(f, "cond")), lambda *arrays, f=f: f(*trees.unflatten(tree, arrays)), avals)
            for f in (true_fun, false_fun)
        ]
        taken, other = branches
        if taken.tree != other.tree or not _alike(taken.avals, other.avals):
            raise TypeError(
                f"the branches of cond return the same types: {taken.name} returns {_types(taken.avals)}, "
                f"{other.name} returns {_types(other.avals)}"
            )
        given = [self.astype(pred, bool), *leaves, *taken.captured, *other.captured]
        names = [("pred", 0), *_called("operands", leaves, 3)]
        return taken.result(self.operation("cond", given, taken.avals, {"programs": (taken, other)}, names))

    def evaluate_cond(self, equation: Equation, values: Values) -> Values:
        """The branch that is taken."""
        taken, other = equation.params["programs"]
        pred, *rest = values
        count = len(taken.inputs) - len(taken.captured)
        split = count + len(taken.captured)
        return self.evaluate(taken, rest[:split]) if pred else self.evaluate(other, [*rest[:count], *rest[split:]])

    def _settled(
        self,
        name: str,
        what: str,
        body: Callable[..., Any],
        carry: list[Any],
        rest: list[Aval],
        part: Callable[[trees.Tree], trees.Tree],
        tree: trees.Tree,
    ) -> tuple[list[Any], Program]:
        """The program of a loop's body, whose state keeps its types; a weak one takes the type that it becomes."""
        for _ in range(2):
            program = self.trace(name, body, [*(aval_of(x) for x in carry), *rest])
            if part(program.tree) != tree:
                raise TypeError(f"{name} carries a state through {what}, and returns one of another structure")
            before, after = [aval_of(x) for x in carry], program.avals[: len(carry)]
            if _alike(before, after):
                return carry, program
            carry = [
                self.astype(x, new.dtype) if old.weak_type and old.shape == new.shape else x
                for x, old, new in zip(carry, before, after, strict=True)
            ]
        raise TypeError(
            f"{name} carries a state through {what}, whose types stay: given {_types(before)}, "
            f"it returns {_types(after)}"
        )

    # --- shard_map ----------------------------------------------------------------------------------------------------

    def shard_map(
        self,
        f: Callable[..., Any],
        *,
        mesh: Mesh | AbstractMesh | None = None,
        in_specs: Any,
        out_specs: Any,
        check_vma: bool = True,
    ) -> Callable[..., Any]:
        """A function of shards, as a function of whole arrays. DEV-07."""

        function(f, "shard_map")
        if not isinstance(mesh, Axes | None):
            raise TypeError(f"shard_map takes a mesh: got {shown(mesh)}")

        def mapped(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                raise TypeError(f"what shard_map gives takes arguments by position: got {', '.join(kwargs)} by name")
            over: Mesh | AbstractMesh | None = mesh if mesh is not None else self.mesh_in_context()
            if over is None:
                raise ValueError("shard_map takes a mesh, or the one in context: got none")
            bound = bind(f, args, {})
            if tracing_now() is None and isinstance(over, AbstractMesh):
                over = self.mesh_of_inputs(bound.arguments, over)
            ins = _over(over, in_specs, bound.args, "in_specs")
            shards = [
                it.aval.with_shape(sharding.shard_shape(it.aval.shape))
                for it, sharding in zip(bound.arguments, ins, strict=True)
            ]
            program = self.trace(name_of(f), bound.function, shards, dict(over.shape))
            outs = _over(over, out_specs, program.tree, "out_specs")
            whole = [_whole(aval, sharding) for aval, sharding in zip(program.avals, outs, strict=True)]
            if check_vma:
                _check_varying(program, [it.spec.named for it in ins], [it.spec for it in outs])
            ins += [NamedSharding(over, PartitionSpec())] * len(program.captured)
            params = {"programs": (program,), "mesh": over, "ins": tuple(ins), "shardings": tuple(outs)}
            operands = [*(it.value for it in bound.arguments), *program.captured]
            names = [(it.name, it.position) for it in bound.arguments]
            return program.result(self.operation("shard_map", operands, whole, params, names))

        return mapped

    def mesh_of_inputs(self, arguments: Sequence[Argument], mesh: AbstractMesh) -> Mesh:
        """The mesh that a shard_map on its own takes from its inputs; what is committed nowhere follows the others.

        ABS-29, ABS-34, ABS-36, ABS-37, ABS-38, ABS-39.
        """
        bound = [it for it in arguments if it.committed is not None] or arguments
        found = [self.mesh_of("shard_map", it.name, it.value, mesh) for it in bound]
        if not found:
            raise ValueError(f"shard_map over {mesh} outside of a program takes its devices from its inputs: got none")
        return found[0]

    def evaluate_shard_map(self, equation: Equation, values: Values) -> Values:
        """The function on each device's shards, in lockstep; which devices those are is of no matter. ABS-01."""
        mesh, ins, outs = (equation.params[name] for name in ("mesh", "ins", "shardings"))
        cut = [sharding.tiles(aval.shape) for sharding, aval in zip(ins, equation.avals, strict=True)]
        shards = [
            [value[tiles.index(device)] for device in range(mesh.size)]
            for value, tiles in zip(values, cut, strict=True)
        ]
        found = self.evaluate_in_lockstep(equation.params["programs"][0], shards, mesh)
        results = []
        for var, sharding, parts in zip(equation.outputs, outs, found, strict=True):
            tiles = sharding.tiles(var.aval.shape)
            whole = np.empty(var.aval.shape + parts[0].shape[var.aval.ndim :], parts[0].dtype)
            for device, part in enumerate(parts):
                whole[tiles.index(device)] = part
            results.append(whole)
        return results

    def evaluate_in_lockstep(self, program: Program, values: Sequence[Values], mesh: Mesh) -> list[Values]:
        """A program on every device of a mesh, whose devices exchange what they have."""
        known: dict[Var, Values] = dict(zip(program.inputs, values, strict=True))
        for equation in program.equations:
            operands = [known[var] for var in equation.inputs]
            if equation.name == "psum":
                outputs: list[Values] = [self.exchange(operands[0], mesh, equation.params["axes"])]
            elif equation.name == "jit":
                outputs = self.evaluate_in_lockstep(equation.params["programs"][0], operands, mesh)
            else:
                each = [self.evaluate_equation(equation, list(shards)) for shards in zip(*operands, strict=True)]
                outputs = list(zip(*each, strict=True))
            known.update(zip(equation.outputs, outputs, strict=True))
        return [known[var] for var in program.outputs]

    def psum(self, x: Any, axis_name: Any) -> Any:
        """The sum over the devices along axes of the mesh that a shard_map is over."""
        axes = axis_name if isinstance(axis_name, tuple) else (axis_name,)
        bound = {axis for trace in HELD.traces for axis in trace.axes}
        if unbound := [axis for axis in axes if axis not in bound]:
            raise NameError(f"psum over {unbound[0]!r}, which is no axis of a shard_map around it")
        return trees.map(lambda leaf: self.operation("psum", [leaf], [aval_of(leaf)], {"axes": axes})[0], x)

    def exchange(self, shards: Values, mesh: Mesh, axes: Sequence[str]) -> Values:
        """What each device has after a sum over axes. ABS-01."""
        grid = np.stack(list(shards)).reshape(*mesh.axis_sizes, *shards[0].shape)
        along = tuple(mesh.axis_names.index(axis) for axis in axes)
        summed = np.broadcast_to(grid.sum(axis=along, keepdims=True, dtype=grid.dtype), grid.shape)
        return list(summed.reshape(mesh.size, *shards[0].shape))

    def evaluate_psum(self, equation: Equation, values: Values) -> Values:
        raise NotImplementedError("the model's devices exchange nothing within a loop or a branch of a shard_map")


def _even(sharding: Sharding, shape: tuple[int, ...]) -> Sharding:
    """A sharding, if it cuts that shape evenly; else the whole of it on each of its devices."""
    sharding.check_rank(shape)
    counts = sharding.tiling(len(shape)).counts
    if not isinstance(sharding, NamedSharding) or not any(n % count for n, count in zip(shape, counts, strict=True)):
        return sharding
    return sharding.with_spec(PartitionSpec())


def _length(rows: Sequence[Any], length: int | None) -> int:
    """How many steps a scan takes."""
    if length is not None and (not isinstance(length, int | np.integer) or length < 0):
        raise (ValueError if isinstance(length, int | np.integer) else TypeError)(
            f"the length of a scan is a number of steps: got {shown(length)}"
        )
    if any(not np.ndim(x) for x in rows):
        raise ValueError("scan goes along the first dimension of arrays: got one without dimensions")
    sizes = {np.shape(x)[0] for x in rows} | ({length} if length is not None else set())
    if len(sizes) != 1:
        raise ValueError(f"scan takes one length, of its arrays or given: got {sorted(sizes) or 'none'}")
    return sizes.pop()


def _alike(some: Sequence[Aval], others: Sequence[Aval]) -> bool:
    return [(it.shape, it.dtype) for it in some] == [(it.shape, it.dtype) for it in others]


def _types(avals: Sequence[Aval]) -> str:
    return ", ".join(map(str, avals)) or "nothing"


def _called(name: str, leaves: Sequence[Any], ahead: int = 1) -> list[tuple[str, int | None]]:
    return [(f"{name}[{i}]" if len(leaves) > 1 else name, ahead) for i in range(len(leaves))]


def _over(mesh: Mesh | AbstractMesh, specs: Any, tree: trees.Tree, name: str) -> list[NamedSharding]:
    """The shardings that specs mean over a mesh, one for each array of a pytree."""
    found = []
    for spec in trees.spread(specs, tree, name):
        if not isinstance(spec, PartitionSpec):
            raise TypeError(f"{name} of shard_map are specs: got {shown(spec)}")
        found.append(NamedSharding(mesh, spec))
    return found


def _check_varying(program: Program, ins: Sequence[Sequence[str]], outs: Sequence[PartitionSpec]) -> None:
    """Refuses a result that may differ between devices along an axis, and is to be the same on all of them."""
    for spec, axes in zip(outs, _varying(program, [frozenset(it) for it in ins]), strict=True):
        if open_ := sorted(axes.difference(spec.named)):
            raise ValueError(
                f"out_specs {spec} of shard_map say that a result of {program.name} is the same along {open_}, and it "
                "may differ: name the axes, sum over them, or give check_vma=False"
            )


def _varying(program: Program, ins: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The axes along which results may differ: those of what they come from, but for those summed over."""
    axes = dict.fromkeys(program.inputs, frozenset[str]()) | dict(zip(program.inputs, ins, strict=False))
    for equation in program.equations:
        operands = [axes[var] for var in equation.inputs]
        found = [frozenset[str]().union(*operands)] * len(equation.outputs)
        if equation.name == "psum":
            found = [found[0].difference(equation.params["axes"])]
        elif equation.name == "jit":
            found = _varying(equation.params["programs"][0], operands)
        axes.update(zip(equation.outputs, found, strict=True))
    return [axes[var] for var in program.outputs]


def _whole(aval: Aval, sharding: NamedSharding) -> Aval:
    """What shards of that aval make up together."""
    if len(sharding.spec) > aval.ndim:
        raise ValueError(f"out_specs {sharding.spec} of shard_map cut more dimensions than {aval} has")
    counts = sharding.tiling(aval.ndim).counts
    return aval.with_shape([n * count for n, count in zip(aval.shape, counts, strict=True)])
