"""SHD: shardings compared with each other, as they cut arrays, and as programs write them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from conformance.kit import Case, Eight, Four, every, judge
from conformance.probes.places import FOUR, SQUARE
from conformance.probes.shardings import ALL, GROUPS, MESHES, MORE, RANKS, SHAPES, TEXTS, Lay, counts, partners, tiles
from conformance.probes.shd import (
    ASKED,
    COPIES,
    EMPTY,
    GIVEN,
    KEYED,
    LEAVING,
    LEFT,
    LONGER,
    MISTAKES,
    PLACES,
    SPECS,
    SPELLED,
    UNEVEN,
)


def group_of(name: str) -> str:
    """The group of a sharding by its name."""
    return next((group for group in MORE if name in MORE[group]), "base")


def needed(*groups: str) -> tuple[str, ...]:
    """The capabilities that groups of shardings take."""
    return tuple(dict.fromkeys(GROUPS[group] for group in groups if group in GROUPS))


# --- compared with each other -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compare(Eight):  # 2-square_x.y-base
    rank: int
    sharding: str
    against: str

    @property
    def needs(self) -> tuple[str, ...]:
        return needed(group_of(self.sharding), self.against)

    @property
    def meets(self) -> str:
        """Every relation that the sharding has to one of those that it is compared with."""
        return "-".join(sorted({it[1] for it in partners(self.rank, self.sharding, self.against)}))


NAMES = list(dict.fromkeys(name for rank in RANKS for name in ALL[rank]))
comparisons = every(Compare, rank=RANKS, sharding=NAMES, against=("base", *GROUPS)).where(
    lambda c: (
        c.sharding in ALL[c.rank]
        and (c.against == "base" or group_of(c.sharding) in list(GROUPS)[: list(GROUPS).index(c.against) + 1])
    )
)
test_comparisons = judge(probe="shd.compare", cases=comparisons)


@dataclass(frozen=True)
class Relate(Eight):  # 2-positional
    rank: int
    group: str

    @property
    def needs(self) -> tuple[str, ...]:
        return needed(self.group)


relations = every(Relate, rank=RANKS, group=("base", *GROUPS)).where(lambda c: c.group == "base" or c.rank == 2)
test_relations = judge(probe="shd.relate", cases=relations)

# --- asked what they are ----------------------------------------------------------------------------------------------


class Laid(Case):
    """A case of one sharding."""

    rank: int
    sharding: str

    @property
    def lay(self) -> Lay:
        return ALL[self.rank][self.sharding]

    @property
    def form(self) -> str:
        return self.lay.form

    @property
    def devices(self) -> int:
        return 1 + max(self.lay.devices)

    @property
    def needs(self) -> tuple[str, ...]:
        return needed(group_of(self.sharding))

    @property
    def ids(self) -> list[int]:
        return sorted(self.lay.devices)

    @property
    def ordered(self) -> list[int]:
        return list(self.lay.devices)

    @property
    def count(self) -> int:
        return len(self.lay.devices)

    @property
    def shard(self) -> list[int]:
        """The shape of a tile."""
        return [size // n for size, n in zip(SHAPES[self.rank], counts(self.lay, self.rank), strict=True)]

    @property
    def parts(self) -> list[Any]:
        """What each device holds: first and last of each dimension."""
        held = {
            id: [[at * size, (at + 1) * size] for at, size in zip(tile, self.shard, strict=True)]
            for id, tile in zip(self.lay.devices, tiles(self.lay, self.rank), strict=True)
        }
        return [[id, held[id]] for id in sorted(held)]

    @property
    def replicated(self) -> bool:
        """Whether there is one tile."""
        return prod(counts(self.lay, self.rank)) == 1


@dataclass(frozen=True)
class Tell(Laid):  # 2-square_x.y
    rank: int
    sharding: str

    @property
    def memory(self) -> str:
        return "default" if self.lay.kind in ("", "device") else self.lay.kind


TOLD = ("square", "turned", "back", "long", "thin", "flat", "two", "one5", "dev5")
tellings = every(Tell, rank=RANKS, sharding=NAMES).where(
    lambda c: (
        c.sharding in ALL[c.rank]
        and (
            c.sharding.partition("_")[0] in TOLD
            or group_of(c.sharding) in ("positional", "gspmd", "pinned_host", "device")
        )
    )
)
test_tellings = judge(probe="shd.tell", cases=tellings)


@dataclass(frozen=True)
class Move(Laid):  # 2-square_x.y-pinned_host
    rank: int
    sharding: str
    into: str

    @property
    def needs(self) -> tuple[str, ...]:
        return (*super().needs, f"memory.{self.into}")


SOME = ("square_whole", "square_x.y", "back_xy", "thin_x", "dev1", "positional_line_2x1", "gspmd_line", "device_dev0")
moves = every(Move, rank=(2,), sharding=SOME, into=("pinned_host", "unpinned_host"))
test_moves = judge(probe="shd.move", cases=moves)


# --- what cannot be ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Divide(Four):  # second-map
    uneven: str
    asked: str


uneven = every(Divide, uneven=UNEVEN, asked=("shard_shape", "map", "put", "in", "out"))
test_uneven = judge(probe="shd.divide", cases=uneven)


@dataclass(frozen=True)
class Outreach(Four):  # second_one-equivalent
    longer: str
    asked: str


outreaching = every(Outreach, longer=LONGER, asked=ASKED)
test_outreaching = judge(probe="shd.outreach", cases=outreaching)


@dataclass(frozen=True)
class Mistaken(Four):  # repeated_apart
    mistake: str


mistakes = every(Mistaken, mistake=MISTAKES)
test_mistakes = judge(probe="shd.mistake", cases=mistakes)


# --- written, copied, shown -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spell(Four):  # group_second
    spelled: str


spellings = every(Spell, spelled=SPELLED)
test_spellings = judge(probe="shd.spell", cases=spellings)


@dataclass(frozen=True)
class Copied(Laid):  # 2-square_x.y-pickle
    rank: int
    sharding: str
    how: str


KEPT = ("square_whole", "square_x.y", "back_xy", "dev1", "positional_line_2x1", "gspmd_line", "abstract_x.y")
copies = every(Copied, rank=(2,), sharding=(*KEPT, "pinned_host_square_x.y", "pinned_host_dev0"), how=COPIES)
test_copies = judge(probe="shd.duplicate", cases=copies)


@dataclass(frozen=True)
class SpecCopied(Case):  # open-pickle
    spec: str
    how: str

    @property
    def open(self) -> list[bool]:
        return [part == "?" for part in SPECS[self.spec]]


spec_copies = every(SpecCopied, spec=SPECS, how=COPIES)
test_spec_copies = judge(probe="shd.duplicate_spec", cases=spec_copies)


@dataclass(frozen=True)
class Shown(Laid):  # 2-square_x.y
    rank: int
    sharding: str

    @property
    def kind(self) -> str:
        return self.lay.kind


shown = every(
    Shown,
    rank=(2,),
    sharding=(
        *("square_whole", "square_x.y", "square_xy", "square_x.-", "square_-.x", "back_y", "long_yx", "thin_x.y"),
        *("dev0", "dev5", "abstract_x.y", "abstract_-.xy", "pinned_host_square_x.y", "pinned_host_dev0"),
    ),
)
test_shown = judge(probe="shd.show", cases=shown)

# --- as programs write them -------------------------------------------------------------------------------------------


def texted(tiles: list[list[int]]) -> list[str]:
    """The tile of each place, as a text is read back."""
    return [".".join(map(str, tile)) for tile in tiles]


@dataclass(frozen=True)
class Write(Case):  # 2-square_x.U
    rank: int
    sharding: str

    @property
    def lay(self) -> Lay:
        return TEXTS[self.rank][self.sharding]

    @property
    def devices(self) -> int:
        return 1 + max(self.lay.devices)

    @property
    def form(self) -> str:
        return self.lay.form

    @property
    def wide(self) -> bool:
        return self.sharding.startswith("turned" if self.rank == 2 else "long") and self.rank > 1

    @property
    def closed(self) -> bool:
        """Whether it leaves nothing to the partitioner."""
        return "?" not in self.lay.spec

    @property
    def held(self) -> list[str]:
        """The tile at each place."""
        return texted(tiles(self.lay, self.rank))

    @property
    def open(self) -> list[int]:
        return [dimension for dimension, part in enumerate(self.lay.spec) if part == "?"]

    @property
    def axes(self) -> list[Any]:
        return [list(axis) for axis in self.lay.axes]


texts = every(Write, rank=(1, 2, 3), sharding=dict.fromkeys(name for rank in TEXTS for name in TEXTS[rank])).where(
    lambda c: c.sharding in TEXTS[c.rank]
)
test_texts = judge(probe="shd.write", cases=texts)


@dataclass(frozen=True)
class Keyed(Four):  # x.y-constraint
    spec: str
    place: str

    @property
    def lay(self) -> Lay:
        return Lay("named", FOUR, SQUARE, KEYED[self.spec])

    @property
    def held(self) -> list[str]:
        """The tile at each place, of an array with one dimension more, which is whole."""
        return texted(tiles(self.lay, 3))

    @property
    def lies(self) -> list[Any]:
        return [list(part) if isinstance(part, tuple) else part for part in self.lay.spec]

    @property
    def shard(self) -> list[int]:
        return [8 // count for count in counts(self.lay, 2)]


key_texts = every(Keyed, spec=KEYED, place=PLACES)
test_key_texts = judge(probe="shd.write_keys", cases=key_texts)

key_runs = every(Keyed, spec=KEYED, place=PLACES)
test_key_runs = judge(probe="shd.run_keys", cases=key_runs)


# --- edges ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Empty(Case):  # one_first-out
    empty: str
    place: str

    @property
    def devices(self) -> int:
        return 1 + max(MESHES[EMPTY[self.empty][0]][0])


empties = every(Empty, empty=EMPTY, place=PLACES)
test_empties = judge(probe="shd.empty", cases=empties)


@dataclass(frozen=True)
class Alone(Case):  # 5-numpy
    device: int
    given: str

    @property
    def devices(self) -> int:
        return 1 + self.device

    @property
    def there(self) -> list[int]:
        return [self.device]


alones = every(Alone, device=(0, 5), given=GIVEN)
test_alones = judge(probe="shd.alone", cases=alones)


@dataclass(frozen=True)
class Leave(Four):  # U.x-out
    left: str
    place: str


leavings = every(Leave, left=LEFT, place=LEAVING)
test_leavings = judge(probe="shd.leave", cases=leavings)

REVIEWED = {
    "SHD-01": "9563eafd",
    "SHD-02": "ca0024bc",
    "SHD-03": "dec0c7f4",
    "SHD-04": "4e4e3cdd",
    "SHD-05": "6ab07ca1",
    "SHD-06": "afffba11",
    "SHD-07": "6110555a",
    "SHD-08": "a7ea9862",
    "SHD-09": "c60017ce",
    "SHD-10": "37a94047",
    "SHD-11": "7831df5a",
    "SHD-12": "1c99b0d9",
    "SHD-13": "ca596bc5",
    "SHD-14": "6cae9883",
    "SHD-15": "2ceab95b",
    "SHD-16": "e77aca2a",
    "SHD-17": "8cf9fc9a",
    "SHD-18": "f7e13df1",
    "SHD-19": "d450f167",
    "SHD-20": "5c6a3a67",
    "SHD-21": "6fe239fd",
    "SHD-22": "78b57dd5",
    "SHD-24": "40047e57",
    "SHD-25": "a0787e64",
    "SHD-26": "671fdac1",
    "SHD-27": "9d05f6c6",
    "SHD-28": "ad6c8ad5",
    "SHD-29": "2a986d56",
    "SHD-30": "ce5a7170",
    "SHD-31": "301e7e8b",
    "SHD-32": "2c72a7ef",
    "SHD-33": "c6f1c17e",
    "SHD-34": "bbcc7ebb",
    "SHD-35": "e71617a3",
    "SHD-36": "bbb0db5f",
    "SHD-38": "be0aff79",
    "SHD-39": "d7a67dab",
    "SHD-40": "6455aed8",
    "SHD-41": "a1733b48",
    "SHD-42": "384b6450",
    "SHD-43": "b9eb6d23",
    "SHD-44": "470210e1",
    "SHD-45": "ddf4e1c9",
    "SHD-46": "5d750875",
    "SHD-47": "91e903ba",
    "SHD-48": "f146955c",
    "SHD-49": "e5353676",
    "SHD-50": "8ee39035",
    "SHD-51": "bf7390ba",
    "SHD-52": "ff94d486",
    "SHD-53": "6174bc96",
    "SHD-54": "df953d38",
    "SHD-55": "de4ba3cb",
    "SHD-56": "a5af56fc",
    "SHD-57": "430f3623",
    "SHD-58": "3fd3b0fa",
}
