"""The bytes of a record file, turned into JSON objects one line at a time. Nothing in them is trusted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

LONGEST_LINE = 4 << 20


def records(path: Path, lost: Callable[[str], None]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each readable line of `path` with its number; for each other line, `lost` is told why, once."""
    decode = json.JSONDecoder(parse_constant=_refuse).decode
    if path.exists() and not path.is_file() and not path.is_dir():  # a FIFO would be waited for
        raise OSError(0, "it is not a regular file")
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            whole = line.endswith(b"\n")
            if len(line) > LONGEST_LINE:
                while not whole and (rest := file.readline(LONGEST_LINE)):
                    whole = rest.endswith(b"\n")
                lost(f"line {number}: longer than {LONGEST_LINE >> 20} MiB, not read")
                continue
            try:
                record = decode(line.decode())
            except UnicodeDecodeError as error:
                lost(f"line {number}: not UTF-8 at byte {error.start + 1}")
            except RecursionError:
                lost(f"line {number}: nested too deeply, not read")
            except ValueError as error:
                what = f"not JSON ({error})" if whole else "cut off, the writer stopped in the middle of it"
                lost(f"line {number}: {what}")
            else:
                if isinstance(record, dict):
                    yield number, record
                else:
                    lost(f"line {number}: not an object, so not a record")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
