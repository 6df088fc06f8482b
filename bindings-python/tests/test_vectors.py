"""Every vector of `tests/vectors` does what it says through `barewire.sansio`, however its bytes are cut.

The format is described in `tests/vectors/README.md`.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import barewire
import pytest
from barewire import _results, sansio

VECTORS = Path(__file__).resolve().parents[2] / "tests" / "vectors"

# Seeds for cutting at random, each vector; `BAREWIRE_SEED` picks one.
SEEDS = [int(os.environ["BAREWIRE_SEED"])] if "BAREWIRE_SEED" in os.environ else [0, 1]

# Members of events and commands that name handles, with the kind of handle.
HANDLES = {
    "request": "request",
    "subscription": "subscription",
    "input": "input",
    "session": "session",
    "abandoned": "request",
}

# Commands that open something, and the kind of handle that they give.
OPENS = {"request": "request", "set_log_level": "request", "subscribe": "subscription"}

# Deadlines that may follow each other without time passing before that counts as hanging.
MOST_DEADLINES = 10_000

Cut = Callable[[bytes], Iterator[bytes]]

compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Disagreement(Exception):
    """Machine and script differ."""


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: numbers by value, and `1` is not `true`."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


class Names:
    """What the names of a script stand for."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.handles: dict[tuple[str, str], int] = {}

    def name_handle(self, kind: str, name: str, handle: int) -> None:
        for (of, other), known in self.handles.items():
            if of == kind and (other == name) != (known == handle):
                raise Disagreement(f"{kind} {name} is {handle}, but {other} is {known}")
        self.handles[kind, name] = handle

    def fill(self, text: str) -> str:
        """Replace `"${name}"` and `${name}` by the JSON of what the name stands for."""
        for name, value in self.values.items():
            token = compact(value)
            text = text.replace(f'"${{{name}}}"', token).replace(f"${{{name}}}", token)
        if unknown := re.search(r"\$\{.*?\}", text):
            raise Disagreement(f"nothing is known as {unknown[0]}")
        return text

    def compare(self, expected: Any, actual: Any, at: str) -> None:
        """Compare JSON values: exactly, but for wildcards."""
        match expected, actual:
            case "$any", _:
                return
            case str(), _ if expected.startswith("${") and expected.endswith("}"):
                known = self.values.setdefault(expected[2:-1], actual)
                if not same(known, actual):
                    raise Disagreement(f"{at}: {expected} is {known!r}, not {actual!r}")
            case {"$contains": str(part)}, str():
                if not part or part not in actual:
                    raise Disagreement(f"{at}: {actual!r} does not contain {part!r}")
            case dict(), dict():
                wanted = {key: value for key, value in expected.items() if key != "$more"}
                if wanted.keys() - actual.keys() or (
                    "$more" not in expected and actual.keys() - wanted.keys()
                ):
                    raise Disagreement(f"{at}: expected {expected!r}, got {actual!r}")
                for key, value in wanted.items():
                    self.compare(value, actual[key], f"{at}.{key}")
            case list(), list() if len(expected) == len(actual):
                for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
                    self.compare(one, other, f"{at}[{number}]")
            case _ if not same(expected, actual):
                raise Disagreement(f"{at}: expected {expected!r}, got {actual!r}")

    def compare_record(self, expected: dict[str, Any], actual: object, at: str) -> None:
        """Compare an event, or a record within one, by the members that are expected."""
        for member, pattern in expected.items():
            where = f"{at}.{member}"
            value = described(actual, member)
            if member in HANDLES:
                self.compare_handles(HANDLES[member], pattern, value, where)
            else:
                self.compare_member(pattern, value, where)

    def compare_member(self, expected: Any, actual: Any, at: str) -> None:
        match expected, actual:
            case {"$text": str(text)}, bytes():
                if actual.decode() != text:
                    raise Disagreement(f"{at}: expected {text}, got {actual.decode()}")
            case _, bytes():
                self.compare(expected, json.loads(actual), at)
            case dict(), dict():
                self.compare(expected, actual, at)
            case dict(), _ if "$contains" not in expected:
                self.compare_record(expected, actual, at)
            case list(), list() if len(expected) == len(actual):
                for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
                    self.compare_member(one, other, f"{at}[{number}]")
            case _:
                self.compare(expected, actual, at)

    def compare_handles(self, kind: str, expected: Any, actual: Any, at: str) -> None:
        match expected, actual:
            case list(), list() if len(expected) == len(actual):
                for name, handle in zip(expected, actual, strict=True):
                    self.compare_handles(kind, name, handle, at)
            case ("$any", int()) | (None, None):
                return
            case str(), int():
                self.name_handle(kind, expected, actual)
            case _:
                raise Disagreement(f"{at}: expected {expected!r}, got {actual!r}")


def described(record: object, member: str) -> Any:
    """A member of an event as scripts write it; JSON stays `bytes`."""
    if member == "event":
        return type(record).__name__
    if member == "bytes":
        raw: bytes = getattr(record, member)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return {"hex": raw.hex()}
    if isinstance(record, sansio.RpcError) and member == "data":
        return record.raw_data
    if isinstance(record, sansio.McpError) and member == "local":
        if isinstance(record, sansio.RpcError):
            raise Disagreement(f"an error of the peer: {record!r}")
        return record.code
    if isinstance(record, sansio.McpError) and not isinstance(record, sansio.RpcError):
        raise Disagreement(f"no error of the peer: {record!r}")
    if not hasattr(record, member):
        raise Disagreement(f"{record!r} has no {member}")
    return getattr(record, member)


def json_text(value: Any) -> str:
    if isinstance(value, dict) and "$text" in value:
        return str(value["$text"])
    return compact(value)


def with_json(arguments: dict[str, Any], *members: str) -> dict[str, Any]:
    """The arguments with JSON text in the place of those values."""
    return {key: json_text(value) if key in members else value for key, value in arguments.items()}


def client_of(config: dict[str, Any]) -> sansio.Client:
    settings = {"version": "1", **with_json(config, "capabilities")}
    settings["limits"] = sansio.Limits(**settings.get("limits", {}))
    settings["timeouts"] = sansio.Timeouts(**settings.get("timeouts", {}))
    if settings.get("era") not in sansio.REVISIONS:  # which the constructor refuses
        settings.pop("era", None)
    return sansio.Client(name="client", seed=bytes([1] * 32), now=0, **settings)


def server_of(config: dict[str, Any]) -> sansio.Server:
    settings = {"version": "1", **with_json(config, "extensions")}
    settings["limits"] = sansio.Limits(**settings.get("limits", {}))
    settings["timeouts"] = sansio.Timeouts(**settings.get("timeouts", {}))
    kinds = ("tools", "resources", "resource_templates", "prompts")
    definitions = {kind: settings.pop(kind, []) for kind in kinds}
    server = sansio.Server(name="server", seed=bytes([2] * 32), clock_origin=0, **settings)
    for kind, add in zip(
        kinds,
        (server.add_tool, server.add_resource, server.add_resource_template, server.add_prompt),
        strict=True,
    ):
        for definition in definitions[kind]:
            add(json_text(definition))
    return server


def run_client(client: sansio.Client, command: str, arguments: dict[str, Any], now: int) -> object:
    given = with_json(arguments, "params", "result", "meta")
    match command:
        case "request":
            return client.request(given.pop("method"), given.pop("params", None), now, **given)
        case "provide_input" | "refuse_input" | "unsubscribe":
            return getattr(client, command)(**given, now=now)
        case "subscribe":
            return client.subscribe(sansio.SubscriptionFilter(**given["filter"]), now)
        case "set_log_level":
            return client.set_log_level(given["level"], now)
        case "cancel" | "notify" | "close":
            return getattr(client, command)(**given)
    raise Disagreement(f"no such command: {command}")


def run_server(server: sansio.Server, command: str, arguments: dict[str, Any], now: int) -> object:
    given = with_json(arguments, "params", "result", "data", "required", "definition", "state")
    match command:
        case "request":
            return server.request(given["session"], given["method"], given.get("params"), now)
        case "require_input":
            questions = [(one["key"], one["kind"], json_text(one["params"])) for one in given["questions"]]
            server.require_input(given["request"], questions, now, given.get("state"))
            return None
        case "log":
            sent = server.log(given.pop("request", None), given.pop("level"), given.pop("data"), **given)
            return sent if "request" in arguments else None
    if not command.startswith("_") and hasattr(server, command):
        return getattr(server, command)(**given)
    raise Disagreement(f"no such command: {command}")


class Player:
    """Plays one script."""

    def __init__(self, vector: dict[str, Any], cut: Cut, joined: bool = False) -> None:
        self.vector = vector
        self.cut = cut
        self.joined = joined
        self.fed = b""
        self.names = Names()
        self.now = 0
        self.sent = b""
        self.told: list[sansio.Event] = []
        config = vector.get("config", {})
        is_client = vector["role"] == "client"
        self.machine: sansio.Client | sansio.Server = client_of(config) if is_client else server_of(config)

    def play(self) -> None:
        self.collect(self.machine.events())
        for number, step in enumerate(self.vector["steps"]):
            ((kind, value),) = step.items()
            try:
                if not (self.joined and kind.startswith("feed")):
                    self.hand_over()
                getattr(self, f"on_{kind}")(value)
            except Disagreement as fault:
                raise Disagreement(f"step {number + 1}: {fault}") from None
        self.hand_over()
        self.on_sent([])
        self.on_events([])

    def collect(self, events: list[sansio.Event]) -> None:
        self.told.extend(events)
        self.sent += self.machine.data_to_send()

    def take(self, verb: Callable[[], list[sansio.Event]]) -> None:
        try:
            events = verb()
        except sansio.ConnectionClosedError:
            # How it ended was told by the last event.
            events = self.machine.events()
        self.collect(events)

    # -------------------------------------------------------------- what goes in

    def on_feed(self, value: Any) -> None:
        text = value if isinstance(value, str) else compact(value) + "\n"
        self.fed += self.names.fill(text).encode()

    def on_feed_hex(self, value: str) -> None:
        self.fed += bytes.fromhex(value)

    def hand_over(self) -> None:
        fed, self.fed = self.fed, b""
        for piece in self.cut(fed):
            self.take(lambda piece=piece: self.machine.receive_data(piece, self.now))  # type: ignore[misc]

    def on_eof(self, _: bool) -> None:
        self.take(lambda: self.machine.receive_eof(self.now))

    def on_lost(self, _: bool) -> None:
        self.take(lambda: self.machine.connection_lost(self.now))

    def on_restart(self, _: bool) -> None:
        assert isinstance(self.machine, sansio.Client)
        self.collect(self.machine.restart(self.now))

    def on_advance(self, milliseconds: int) -> None:
        end = self.now + milliseconds
        for _ in range(MOST_DEADLINES):
            due = self.machine.poll_timeout()
            is_due = due is not None and due <= end
            self.now = max(due, self.now) if due is not None and is_due else end
            self.collect(self.machine.handle_timeout(self.now))
            if not is_due:
                return
        raise Disagreement("deadlines follow each other without an end")

    def on_do(self, step: dict[str, Any]) -> None:
        arguments: dict[str, Any] = json.loads(self.names.fill(compact(step)))
        command, name = arguments.pop("command"), arguments.pop("as", None)
        fails, gives = arguments.pop("fails", None), arguments.pop("gives", None)
        for member, value in arguments.items():
            if member in HANDLES and isinstance(value, str):
                arguments[member] = self.names.handles[HANDLES[member], value]
        run: Callable[..., object] = run_client if isinstance(self.machine, sansio.Client) else run_server
        try:
            outcome = run(self.machine, command, arguments, self.now)
        except sansio.McpError as error:
            if error.code != fails:
                raise Disagreement(f"it failed with {error.code}: {error}") from None
        else:
            if fails is not None:
                raise Disagreement(f"it did not fail with {fails}")
            if name is not None:
                assert isinstance(outcome, int)
                self.names.name_handle(OPENS[command], name, outcome)
            elif gives is not None and outcome is not gives:
                raise Disagreement(f"it gave {outcome!r}")
        self.collect(self.machine.events())

    # -------------------------------------------------------------- what must come out

    def on_sent(self, expected: list[Any]) -> None:
        lines = self.sent.decode().split("\n")
        self.sent = b""
        if lines.pop() or any("\r" in line or not line.startswith(("{", "[")) for line in lines):
            raise Disagreement(f"sent what are no lines of one message: {lines!r}")
        for number, (pattern, line) in enumerate(zip(expected, lines, strict=False)):
            at = f"message {number + 1}"
            if not isinstance(pattern, str):
                self.names.compare(pattern, json.loads(line), at)
            elif self.names.fill(pattern) != line:
                raise Disagreement(f"{at}: expected {pattern}, got {line}")
        if len(expected) != len(lines):
            raise Disagreement(f"expected {len(expected)} messages, sent {lines!r}")

    def on_events(self, expected: list[dict[str, Any]]) -> None:
        told, self.told = self.told, []
        for number, (pattern, event) in enumerate(zip(expected, told, strict=False)):
            if pattern["event"] != type(event).__name__:
                raise Disagreement(f"event {number + 1}: expected {pattern!r}, got {event!r}")
            self.names.compare_record(pattern, event, f"event {number + 1}")
        if len(expected) != len(told):
            raise Disagreement(f"expected {len(expected)} events, got {told!r}")

    def on_state(self, expected: dict[str, Any]) -> None:
        due = self.machine.poll_timeout()
        state = {
            "timer": None if due is None else max(due - self.now, 0),
            "finished": self.machine.is_finished,
            "wants_input": self.machine.wants_input,
            "era_verdict": self.machine.era_verdict if isinstance(self.machine, sansio.Client) else None,
        }
        for member, value in expected.items():
            if state[member] != value:
                raise Disagreement(f"{member} is {state[member]!r}")


def whole(data: bytes) -> Iterator[bytes]:
    if data:
        yield data


def one_by_one(data: bytes) -> Iterator[bytes]:
    for at in range(len(data)):
        yield data[at : at + 1]


def at_random(seed: int) -> Cut:
    source = random.Random(seed)

    def cut(data: bytes) -> Iterator[bytes]:
        while data:
            count = source.randint(1, len(data))
            yield data[:count]
            data = data[count:]

    return cut


CUTS: dict[str, Cut] = {"as written": whole, "joined": whole, "bytes": one_by_one} | {
    f"seed {n}": at_random(n) for n in SEEDS
}


def load(line: str) -> dict[str, Any]:
    vector: dict[str, Any] = json.loads(line)
    if not any(step.get("sent") or step.get("events") for step in vector["steps"]):
        raise ValueError(f"{vector['name']}: it expects nothing")
    return vector


def vectors() -> Iterator[dict[str, Any]]:
    for file in sorted(VECTORS.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield load(line)


@pytest.mark.parametrize("vector", [pytest.param(vector, id=vector["name"]) for vector in vectors()])
def test_vector(vector: dict[str, Any]) -> None:
    try:
        for how, cut in CUTS.items():
            try:
                Player(vector, cut, joined=how != "as written").play()
            except Disagreement as fault:
                raise Disagreement(f"fed {how}: {fault}") from None
    except Disagreement:
        if "fault" not in vector:
            raise
    else:
        assert "fault" not in vector, f"passes, though known to fail: {vector['fault']}"


def test_a_vector_that_expects_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="expects nothing"):
        load('{"name":"x","role":"server","steps":[{"feed":"{}"},{"sent":[]},{"events":[]}]}')


@pytest.mark.parametrize(
    "steps",
    [
        '{"sent":[]}',
        '{"sent":[{"jsonrpc":"2.0","id":"1","result":{}}]}',
        '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}},{}]}',
        '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}}]},{"feed":"noise\\n"}',
        '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}}]},{"events":[{"event":"Ready"}]}',
        '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}}]},{"state":{"timer":5}}',
        '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}}]},{"do":{"command":"close"}}',
    ],
)
def test_the_player_notices_a_difference(steps: str) -> None:
    ping = '{"feed":{"jsonrpc":"2.0","id":1,"method":"ping"}}'
    vector = json.loads(f'{{"role":"server","steps":[{ping},{steps}]}}')
    with pytest.raises(Disagreement):
        Player(vector, whole).play()


# ---------------------------------------------------------------- typed reading of what the vectors pass on


def result_of(name: str) -> bytes:
    """The result that the vector of that name hands to the application."""
    (vector,) = (vector for vector in vectors() if vector["name"] == name)
    texts = (
        event["result"]["$text"]
        for step in vector["steps"]
        for event in step.get("events", ())[:1]
        if "result" in event
    )
    return str(next(texts)).encode()


def test_an_unknown_block_stays_as_written_between_its_neighbours() -> None:
    raw = result_of("block-12/a result reaches the application as it was written (2025-11-25)")
    result = _results.read_call(raw)
    before, unknown, after = result.content
    assert isinstance(before, barewire.Text) and isinstance(after, barewire.Text)
    assert isinstance(unknown, _results.UnknownBlock)
    assert (before.text, unknown.type, after.text) == ("before", "hologram", "after")
    assert unknown.raw == b'{"type":"hologram","uri":"h://1","depth":3}'
    assert after.extra == {"future": {"k": [1]}}
    assert (result.extra, result.raw, result.problems) == ({"newMember": True}, raw, ())


def test_one_odd_tool_does_not_cost_the_list() -> None:
    page = _results.read_list(
        result_of("one-bad-13/one odd item does not cost the list"), _results.Tool, "tools"
    )
    assert [tool.name for tool in page] == ["good1", "odd", "good2"]
    assert [tool.output_schema_fault is None for tool in page] == [True, False, True]
    assert [(problem.index, problem.path) for problem in page.problems] == [
        (1, ""),
        (2, "inputSchema"),
        (3, "name"),
        (4, "inputSchema"),
    ]
