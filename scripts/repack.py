"""Packs wheels again, smaller: every file deflated by libdeflate at its highest level, all else as it was.

    python scripts/repack.py dist/*.whl

The files and their hashes in RECORD stay the same. It takes some seconds and saves three hundredths of a wheel.
"""

from __future__ import annotations

import os
import struct
import sys
import zipfile
import zlib

import deflate

_LEVEL = 12
_LOCAL = struct.Struct("<4sHHHHHLLLHH")
_CENTRAL = struct.Struct("<4sHHHHHHLLLHHHHHLL")
_END = struct.Struct("<4sHHHHLLH")
_DEFLATED = 8
_VERSION = 20


def repack(path: str) -> tuple[int, int]:
    """Writes a wheel anew in its place: its size before and after, in bytes."""
    before = os.path.getsize(path)
    whole, central, count = bytearray(), bytearray(), 0
    with zipfile.ZipFile(path) as wheel:
        for info in wheel.infolist():
            local, entry = _entry(info, wheel.read(info), len(whole))
            whole += local
            central += entry
            count += 1
    end = _END.pack(b"PK\5\6", 0, 0, count, count, len(central), len(whole), 0)
    temporary = path + ".new"
    with open(temporary, "wb") as out:
        out.write(whole + central + end)
    with zipfile.ZipFile(temporary) as wheel:
        if wheel.testzip() is not None:
            raise SystemExit(f"{path}: what was written cannot be read")
    os.replace(temporary, path)
    return before, os.path.getsize(path)


def _entry(info: zipfile.ZipInfo, content: bytes, place: int) -> tuple[bytes, bytes]:
    """A file as it stands in the wheel, and its entry in the directory."""
    packed = bytes(deflate.deflate_compress(content, _LEVEL))
    name = info.filename.encode()
    flags = 0 if info.filename.isascii() else 0x800
    year, month, day, hour, minute, second = info.date_time
    date, time = (year - 1980) << 9 | month << 5 | day, hour << 11 | minute << 5 | second // 2
    known = (_DEFLATED, time, date, zlib.crc32(content), len(packed), len(content), len(name), 0)
    local = _LOCAL.pack(b"PK\3\4", _VERSION, flags, *known) + name + packed
    entry = _CENTRAL.pack(
        b"PK\1\2", info.create_system << 8 | _VERSION, _VERSION, flags, *known, 0, 0, info.internal_attr, info.external_attr, place
    )
    return local, entry + name


if __name__ == "__main__":
    for wheel in sys.argv[1:]:
        sizes = repack(wheel)
        print(f"{wheel}: {sizes[0]:,} bytes, packed again {sizes[1]:,}")
