"""The shared vectors, played by a C program that reads their JSON with the library itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import building
import pytest

VECTORS = sorted((building.ROOT / "tests" / "vectors").glob("*.jsonl"))
C11 = ["cc", "-std=c11", "-D_GNU_SOURCE"]
SANITIZERS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="session")
def player(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = sorted((building.TESTS / "vectors").glob("*.c"))
    program = tmp_path_factory.mktemp("player") / "player"
    return building.build(program, sources, *SANITIZERS, compiler=C11)


def play(player: Path, file: Path) -> str:
    done = subprocess.run([player, file], capture_output=True, text=True, timeout=600)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("file", VECTORS, ids=lambda file: file.stem)
def test_vectors(player: Path, file: Path) -> None:
    count = len(file.read_text(encoding="utf-8").splitlines())
    assert play(player, file) == f"{count} passed, 0 failed\n"


PING = '{"feed":{"jsonrpc":"2.0","id":1,"method":"ping"}}'
PONG = '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}}]}'


@pytest.mark.parametrize(
    "steps",
    [
        '{"sent":[]}',
        '{"sent":[{"jsonrpc":"2.0","id":"1","result":{}}]}',
        '{"sent":[{"jsonrpc":"2.0","id":2,"result":{}}]}',
        '{"sent":[{"jsonrpc":"2.0","id":1,"result":{},"more":1}]}',
        '{"sent":[{"jsonrpc":"2.0","id":1}]}',
        '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}},{}]}',
        '{"sent":["{}"]}',
        PONG + ',{"feed":"noise\\n"}',
        PONG + ',{"feed":"noise\\n"},{"events":[{"event":"MessageDiscarded","violation":"too_long"}]}',
        PONG + ',{"events":[{"event":"Ready"}]}',
        PONG + ',{"state":{"timer":5}}',
        PONG + ',{"state":{"finished":true}}',
        PONG + ',{"do":{"command":"close"}}',
        PONG + ',{"do":{"command":"respond","request":"A","result":{}}}',
        PONG + ',{"do":{"command":"remove_tool","name":"t"}}',
        PONG + ',{"feed":"${unknown}\\n"}',
        PONG + ',{"unknown":1}',
        PONG + ',{"do":{"command":"unknown"}}',
    ],
)
def test_the_player_notices_a_difference(player: Path, tmp_path: Path, steps: str) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(f'{{"name":"x","role":"server","steps":[{PING},{steps}]}}\n')
    json.loads(script.read_text())
    assert play(player, script).endswith("0 passed, 1 failed\n")
