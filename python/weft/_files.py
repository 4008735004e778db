"""Files that are there as a whole or not at all: written under another name in the same folder, and renamed when all is written."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

__all__ = ["Path", "whole_file"]

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place at the end of the block, if nothing was raised: whoever reads has the old one or the new.

    Writers at the same time, of whatever process or thread, do not meet; the last one stays. A link is followed. What is no regular file,
    such as a pipe, is written to as it is.
    """
    target = os.path.realpath(os.fsdecode(path))
    if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
        with open(target, "wb") as out:
            yield out
        return
    # A name of its own, which has no length that the folder might refuse.
    unfinished = os.path.join(os.path.dirname(target), f"weft-{secrets.token_hex(8)}.part")
    try:
        with open(unfinished, "xb") as out:
            if os.path.exists(target):
                os.chmod(unfinished, stat.S_IMODE(os.stat(target).st_mode))
            yield out
        os.replace(unfinished, target)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise
