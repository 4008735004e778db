"""Files that are written as a whole: graphs and safetensors, by paths of all kinds, by several writers, and when writing fails."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

import weft
from weft import nn
from weft._files import whole_file


def save_graph(path, number=1.0):
    weft.save_graph(path, lambda x: x * number, weft.zeros(3))


def save_safetensors(path, number=1.0):
    nn.save_safetensors(path, {"x": weft.full(3, number)})


def loaded(save, path):
    """The three numbers that a file has."""
    if save is save_graph:
        return weft.load_graph(path)(weft.ones(3)).tolist()
    return nn.load_safetensors(path)["x"].tolist()


class PathOfBytes:
    """An `os.PathLike` whose path are bytes."""

    def __init__(self, path: bytes) -> None:
        self.path = path

    def __fspath__(self) -> bytes:
        return self.path


SAVES = pytest.mark.parametrize("save", [save_graph, save_safetensors])


@SAVES
@pytest.mark.parametrize("kind", [str, Path, os.fsencode, lambda path: PathOfBytes(os.fsencode(path))])
def test_paths_of_all_kinds(save, kind, tmp_path):
    path = kind(str(tmp_path / "größe"))
    save(path)
    save(path, 2.0)
    assert loaded(save, path) == [2.0] * 3
    assert os.listdir(tmp_path) == ["größe"]


@SAVES
def test_what_is_no_path(save, tmp_path):
    for wrong in (3, None, ["a"]):
        with pytest.raises(TypeError, match=r"str, bytes or os\.PathLike"):
            save(wrong)
    with pytest.raises(FileNotFoundError):
        save(tmp_path / "nowhere" / "x")
    with pytest.raises(IsADirectoryError):
        save(tmp_path)
    assert not list(tmp_path.iterdir())


@SAVES
def test_writers_at_the_same_time(save, tmp_path):
    path, wrong = tmp_path / "shared", []
    save(path, 0.0)

    def work(number):
        for _ in range(20):
            save(path, number)
            found = loaded(save, path)
            if len(set(found)) != 1 or found[0] not in (0.0, 1.0, 2.0, 3.0):
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(float(number),)) for number in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and os.listdir(tmp_path) == ["shared"]


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "kept"
    path.write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt), whole_file(path) as out:
        out.write(b"half of it")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["kept"]


@pytest.mark.skipif(os.name == "nt", reason="modes and links of Unix")
def test_modes_links_and_pipes(tmp_path):
    before = os.umask(0o027)
    try:
        save_graph(tmp_path / "new")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    finally:
        os.umask(before)
    (tmp_path / "new").chmod(0o604)
    (tmp_path / "link").symlink_to("new")
    save_graph(tmp_path / "link", 5.0)
    assert (tmp_path / "link").is_symlink() and loaded(save_graph, tmp_path / "new") == [5.0] * 3
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    save_safetensors(tmp_path / "pipe", 7.0)
    reader.join()
    (tmp_path / "read").write_bytes(read[0])
    assert np.array_equal(nn.load_safetensors(tmp_path / "read")["x"], [7.0] * 3) and (tmp_path / "pipe").is_fifo()
