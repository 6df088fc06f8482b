"""Stores of tokens: what is kept, who wins when two write, and what is seen of the secrets."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backend
import pytest
from barewire import FileTokenStore, KeyringTokenStore, MemoryTokenStore, StoredRecord, TokenStore

KEY = "https://mcp.example/mcp"
FIRST, SECOND = StoredRecord(1, '{"secret": 1}'), StoredRecord(2, '{"secret": 2}\n')


class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture(params=["memory", "file", "keyring"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TokenStore]:
    if request.param == "memory":
        yield MemoryTokenStore()
    elif request.param == "file":
        yield FileTokenStore(tmp_path / "tokens")
    else:
        before = keyring.get_keyring()
        keyring.set_keyring(Ring())
        yield KeyringTokenStore(tmp_path / "locks")
        keyring.set_keyring(before)


def test_what_is_saved_is_loaded(store: TokenStore) -> None:
    assert store.load(KEY) is None
    assert store.save(KEY, 0, FIRST)
    assert store.load(KEY) == FIRST
    assert store.save(KEY, 1, SECOND)
    assert store.load(KEY) == SECOND
    assert store.load("https://other.example/mcp") is None


def test_who_has_seen_another_generation_changes_nothing(store: TokenStore) -> None:
    assert not store.save(KEY, 1, SECOND)
    assert store.save(KEY, 0, FIRST)
    assert not store.save(KEY, 0, SECOND)
    assert store.load(KEY) == FIRST


def test_one_of_many_wins(store: TokenStore) -> None:
    won: list[int] = []
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        if store.save(KEY, 0, StoredRecord(1, str(number))):
            won.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert store.load(KEY) == StoredRecord(1, str(won[0]))


def test_a_lock_is_held_by_one(store: TokenStore) -> None:
    order: list[str] = []

    def second() -> None:
        with store.lock(KEY):
            order.append("second")

    with store.lock(KEY):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.1)
        order.append("first")
        with store.lock("https://other.example/mcp"):
            pass
        assert store.save(KEY, 0, FIRST)  # who holds it can write
    thread.join()
    assert order == ["first", "second"]


def test_a_lock_may_be_released_by_another_thread(store: TokenStore) -> None:
    held = store.lock(KEY)
    held.__enter__()
    thread = threading.Thread(target=held.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    with store.lock(KEY):
        pass


def test_nothing_shows_the_secrets(store: TokenStore) -> None:
    store.save(KEY, 0, FIRST)
    for shown in (repr(store), repr(store.load(KEY)), f"{store.load(KEY)}", f"{store}"):
        assert "{" not in shown


# proves: FEAT-498
@pytest.mark.skipif(sys.platform == "win32", reason="permissions of another kind")
def test_files_are_for_their_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    before = os.umask(0)
    try:
        store = FileTokenStore(folder)
        store.save(KEY, 0, FIRST)
        with store.lock(KEY):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_broken_file_is_as_good_as_none(tmp_path: Path) -> None:
    store = FileTokenStore(tmp_path)
    store.save(KEY, 0, FIRST)
    (path,) = tmp_path.glob("*.token")
    for text in (b"", b"1", b"one\n{}", b"-1\n{}", b"1" * 5000 + b"\n{}", b"\xff\xfe\n"):
        path.write_bytes(text)
        assert store.load(KEY) is None
    assert store.save(KEY, 0, SECOND)


def test_processes_share_a_folder(tmp_path: Path) -> None:
    code = (
        "import sys, barewire\n"
        "store = barewire.FileTokenStore(sys.argv[1])\n"
        "for _ in range(50):\n"
        "    with store.lock('key'):\n"
        "        old = store.load('key') or barewire.StoredRecord(0, '')\n"
        "        assert store.save('key', old.generation, barewire.StoredRecord(old.generation + 1, 'x'))\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert FileTokenStore(tmp_path).load("key") == StoredRecord(150, "x")
