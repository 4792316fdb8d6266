"""Lifts definitions out of a subject as text: observers become functions of a script, adapters come as they are.

Nothing is imported: the judge has no JAX.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import impl

from .syntax import parameters, stored

SEE = "see"
"""The module whose class `See` has the observers."""


@dataclass
class Module:
    """One module: its definitions by name, its other statements, and where its imported names come from."""

    name: str
    tree: ast.Module
    defined: dict[str, ast.stmt] = field(default_factory=dict)
    loose: list[ast.Expr] = field(default_factory=list)
    siblings: dict[str, str] = field(default_factory=dict)  # a name that is another module of the package
    imported: dict[str, str] = field(default_factory=dict)  # a name and the statement that imports it
    renamed: dict[str, str] = field(default_factory=dict)  # definitions that are called otherwise in a script

    def rename(self, names: Mapping[str, str]) -> None:
        """Calls definitions otherwise, as a script has the names of all modules side by side."""
        self.renamed |= names
        change = _Renamed(names)
        self.defined = {names.get(name, name): change.visit(it) for name, it in self.defined.items()}
        self.loose = [change.visit(it) for it in self.loose]


class Package:
    """The modules of a package, and those that it shares with other packages, as text.

    The observers are the public methods of its class `See` and of the class that this derives from, where that is in
    one of those modules.
    """

    def __init__(self, folder: Path, *shared: Path) -> None:
        own = {path.stem: path for path in sorted(folder.glob("*.py")) if path.stem != "__init__"}
        others = {path.stem: path for path in shared}
        self.modules = {name: _module(path, own, others) for name, path in own.items()}
        self.modules |= {name: _module(path, others, {}) for name, path in others.items()}
        methods = [*self.methods(self.modules[SEE], "See")]
        self.observers = {it.name: module.name for module, it in methods}
        """The observers, each with its module."""
        taken = {*self.observers}
        for module in sorted(self.modules.values(), key=lambda it: it.name != SEE):
            module.rename({name: f"{module.name}_{name}" for name in module.defined if name in taken})
            taken |= module.defined.keys()
        self.asked = {it.name: [name for name in _of_self(it) if name in self.observers] for _, it in methods}
        """The observers that each of them asks."""
        for module, method in methods:
            module.defined[method.name] = _Free().visit(_Renamed(module.renamed).visit(method))

    def methods(self, module: Module, name: str) -> Iterator[tuple[Module, ast.FunctionDef]]:
        """Takes a class out of its module, and those that it derives from: their public methods."""
        kind = module.defined.pop(name)
        assert isinstance(kind, ast.ClassDef)
        for base in kind.bases:
            if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
                sibling = module.siblings.get(base.value.id)
                if sibling:
                    yield from self.methods(self.modules[sibling], base.attr)
        for it in kind.body:
            if isinstance(it, ast.FunctionDef) and not it.name.startswith("_"):
                yield module, it

    def lift(self, observers: Iterable[str], adapters: Iterable[str]) -> tuple[set[str], list[ast.stmt]]:
        """The imports and the definitions that these names need, in an order that runs."""
        wanted = [(self.observers[it], it) for it in sorted(observers)] + [("adapters", it) for it in sorted(adapters)]
        found: set[tuple[str, str]] = set()
        imports: set[str] = set()
        loose: list[tuple[str, ast.Expr]] = []
        while wanted:
            at = wanted.pop()
            if at in found:
                continue
            found.add(at)
            module = self.modules[at[0]]
            imports |= {module.imported[it] for it in _names(module.defined[at[1]]) if it in module.imported}
            wanted += self.leans_on(module, module.defined[at[1]])
            for statement in module.loose:  # such as the registration of a listener
                if (at[0], statement) not in loose and at in self.reached(module, statement):
                    loose.append((at[0], statement))
                    imports |= {module.imported[it] for it in _names(statement) if it in module.imported}
                    wanted += self.leans_on(module, statement)
        lifted: list[ast.stmt] = []
        for module in sorted(self.modules.values(), key=lambda it: it.name == SEE):
            ours = {name: statement for name, statement in module.defined.items() if (module.name, name) in found}
            lifted += [self.plain(it, module) for it in ours.values()]
            lifted += [self.plain(it, module) for name, it in loose if name == module.name]
        return imports, lifted

    def reached(self, module: Module, statement: ast.stmt) -> set[tuple[str, str]]:
        """Everything of the package that a statement leans on, however far."""
        found: set[tuple[str, str]] = set()
        wanted = [*self.leans_on(module, statement)]
        while wanted:
            at = wanted.pop()
            if at not in found:
                found.add(at)
                inner = self.modules[at[0]]
                wanted += self.leans_on(inner, inner.defined[at[1]])
        return found

    def leans_on(self, module: Module, statement: ast.AST) -> Iterator[tuple[str, str]]:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                sibling = module.siblings.get(node.value.id)
                if sibling:
                    name = self.modules[sibling].renamed.get(node.attr, node.attr)
                    if name in self.modules[sibling].defined:
                        yield sibling, name
            elif isinstance(node, ast.Name) and node.id in module.defined.keys() - self.observers.keys():
                yield module.name, node.id
        if isinstance(statement, ast.FunctionDef):
            yield from ((self.observers[it], it) for it in self.asked.get(statement.name, ()))

    def plain(self, statement: ast.stmt, module: Module) -> ast.stmt:
        """A definition as a script has it, of which the package's other modules are a part."""
        siblings = {name: self.modules[it].renamed for name, it in module.siblings.items()}
        made: ast.stmt = _Joined(siblings).visit(copy.deepcopy(statement))
        return ast.fix_missing_locations(made)


def _module(path: Path, beside: Collection[str], shared: Collection[str]) -> Module:
    """One module, of whose imports `beside` are of its own package, `shared` of another one."""
    module = Module(path.stem, _Untyped().visit(ast.parse(path.read_text(encoding="utf-8"))))
    for node in module.tree.body:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                module.defined[node.name] = node
            case ast.Assign(targets=[ast.Name(id=name)]):
                module.defined[name] = node
            case ast.ImportFrom(module=None, level=1):
                module.siblings |= {it.asname or it.name: it.name for it in node.names if it.name in beside}
            case ast.ImportFrom(level=0) if (node.module or "").partition(".")[0] == impl.__name__:
                module.siblings |= {it.asname or it.name: it.name for it in node.names if it.name in shared}
            case ast.ImportFrom(level=0) if node.module != "__future__":
                module.imported |= {
                    it.asname or it.name: ast.unparse(ast.ImportFrom(node.module, [it], 0)) for it in node.names
                }
            case ast.Import():
                module.imported |= {
                    (it.asname or it.name.partition(".")[0]): ast.unparse(ast.Import([it])) for it in node.names
                }
            case ast.Expr(value=ast.Call()):
                module.loose.append(node)
            case _:
                pass
    return module


def _of_self(node: ast.AST) -> Iterator[str]:
    for it in ast.walk(node):
        if isinstance(it, ast.Attribute) and isinstance(it.value, ast.Name) and it.value.id == "self":
            yield it.attr


def _names(node: ast.AST) -> set[str]:
    return {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}


class _Untyped(ast.NodeTransformer):
    """Drops types."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        for it in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg):
            if it is not None:
                it.annotation = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return self.generic_visit(ast.Assign([node.target], node.value))


class _Renamed(ast.NodeTransformer):
    """Calls functions and tables of a module otherwise; variables of that name stay."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if not (node.args.args and node.args.args[0].arg == "self"):
            node.name = self.names.get(node.name, node.name)
        own = {*parameters(node), *stored(node.body)} & self.names.keys()
        if own:
            inner = _Renamed({name: it for name, it in self.names.items() if name not in own})
            node.body = [inner.visit(it) for it in node.body]
            return node
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


class _Free(ast.NodeTransformer):
    """Makes a function of an observer: `self` goes, other observers are called by name, pointers are there."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.args.args and node.args.args[0].arg == "self":
            node.args.args = node.args.args[1:]
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return ast.Constant(True) if node.attr == "_pointers" else ast.Name(node.attr, node.ctx)
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        said = isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant)
        return ast.Constant(not node.operand.value) if said and isinstance(node.operand, ast.Constant) else node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.ifs = [it for it in node.ifs if not (isinstance(it, ast.Constant) and it.value)]
        return node


class _Joined(ast.NodeTransformer):
    """Makes names of what other modules of the package define."""

    def __init__(self, siblings: Mapping[str, Mapping[str, str]]) -> None:
        self.siblings = siblings

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in self.siblings:
            return ast.Name(self.siblings[node.value.id].get(node.attr, node.attr), node.ctx)
        return self.generic_visit(node)
