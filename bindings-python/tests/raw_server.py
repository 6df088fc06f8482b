"""A server written by hand, of both eras, with the manners and the bad manners that tests of clients need.

usage: raw_server.py [legacy|modern|both] [FLAG...]
Flags: dies-on-probe, silent-on-probe, circles (a cursor comes back), odd (odd items in lists and content),
mute (answers no handshake).
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else "both"
FLAGS = set(sys.argv[2:])
MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PREFIX = "io.modelcontextprotocol/"
CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}
INFO = {"name": "raw", "version": "7", "future": True}
CURSORS = [None, "", ' \u2028é"\\/ 0']
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "ask": ("elicitation/create", {"message": "Your name?", "requestedSchema": {"type": "object"}}),
    "visit": (
        "elicitation/create",
        {"mode": "url", "message": "Go", "url": "https://x.example/", "elicitationId": "e"},
    ),
    "sample": (
        "sampling/createMessage",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "2+2?"}}], "maxTokens": 9},
    ),
    "roots": ("roots/list", {}),
}


def send(**message: Any) -> None:
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n")
    sys.stdout.buffer.flush()


def text(value: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(value)}]}


class Server:
    def __init__(self) -> None:
        self.waiting: dict[Any, Any] = {}
        self.hanging: dict[Any, Any] = {}
        self.cancelled = 0
        self.level: str | None = None
        self.client: dict[str, Any] = {}
        self.subscriptions: list[Any] = []

    def answer(self, request: dict[str, Any], result: dict[str, Any]) -> None:
        if is_modern(request):
            result = {"resultType": "complete", **result}
        send(id=request["id"], result=result)

    def refuse(self, request: dict[str, Any], code: int, message: str, data: Any = None) -> None:
        send(id=request["id"], error={"code": code, "message": message, **({"data": data} if data else {})})

    def take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            self.finish(self.waiting.pop(message["id"]), message)
        elif "id" not in message:
            self.notified(method, message.get("params", {}))
        elif method == "server/discover":
            self.discover(message)
        elif method == "initialize":
            self.initialize(message)
        else:
            handler = getattr(self, method.replace("/", "_").lower(), None)
            if handler is None:
                self.refuse(message, -32601, "Method not found")
            else:
                handler(message, message.get("params", {}))

    # -- opening

    def discover(self, message: dict[str, Any]) -> None:
        if "dies-on-probe" in FLAGS:
            os._exit(1)
        if "silent-on-probe" in FLAGS:
            return
        if MODE == "legacy":
            self.refuse(message, -32601, "Method not found")
        else:
            about = {"_meta": {PREFIX + "serverInfo": INFO}, "instructions": "Be kind."}
            self.answer(message, {"supportedVersions": [MODERN], "capabilities": CAPABILITIES, **about})

    def initialize(self, message: dict[str, Any]) -> None:
        if "mute" in FLAGS:
            return
        self.client = message["params"]["capabilities"]
        asked = message["params"]["protocolVersion"]
        self.answer(
            message,
            {
                "protocolVersion": asked if asked in LEGACY else LEGACY[0],
                "capabilities": CAPABILITIES,
                "serverInfo": INFO,
                "instructions": "Be kind.",
            },
        )

    def notified(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/cancelled":
            self.hanging.pop(params["requestId"], None)
            if params["requestId"] in self.subscriptions:
                self.subscriptions.remove(params["requestId"])
            self.cancelled += 1

    # -- lists

    def page(self, message: dict[str, Any], member: str, items: list[Any]) -> None:
        cursor = message.get("params", {}).get("cursor")
        # Pages grow, and cursors are nothing that could be guessed.
        at = CURSORS.index(cursor)
        start, end = at * (at + 1) // 2, (at + 1) * (at + 2) // 2
        page: dict[str, Any] = {member: items[start:end]}
        if end < len(items):
            page["nextCursor"] = CURSORS[at + 1]
        if "circles" in FLAGS:
            page["nextCursor"] = ""
        self.answer(message, page)

    def tools_list(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        tools: list[Any] = [{"name": name, "inputSchema": {"type": "object"}} for name in "abcdef"]
        if "odd" in FLAGS:
            return self.answer(message, {"tools": [tools[0], None, {"name": "x"}, tools[1]]})
        self.page(message, "tools", tools)

    def resources_list(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.page(message, "resources", [{"uri": f"r://{n}", "name": f"r{n}"} for n in range(2)])

    def resources_templates_list(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.page(message, "resourceTemplates", [{"uriTemplate": "r://{n}", "name": "t"}])

    def prompts_list(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.page(message, "prompts", [{"name": "p", "arguments": [{"name": "who", "required": True}]}])

    # -- reading

    def resources_read(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        if params["uri"] == "r://none":
            return self.refuse(message, -32602, "Resource not found", {"uri": "r://none"})
        self.answer(message, {"contents": [{"uri": params["uri"], "text": "content"}]})

    def prompts_get(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        content = {"type": "text", "text": "Greet " + params.get("arguments", {}).get("who", "all")}
        self.answer(message, {"description": "d", "messages": [{"role": "user", "content": content}]})

    def completion_complete(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        values = [params["argument"]["value"] + end for end in ("x", "y")]
        self.answer(message, {"completion": {"values": values, "total": 2, "hasMore": False}})

    # -- the rest

    def ping(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.answer(message, {})

    def logging_setlevel(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.level = params["level"]
        self.answer(message, {})

    def resources_subscribe(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.answer(message, {})

    def resources_unsubscribe(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.answer(message, {})

    def subscriptions_listen(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.subscriptions.append(message["id"])
        self.tell(message["id"], "subscriptions/acknowledged", notifications=params["notifications"])

    def tell(self, subscription: Any, method: str, **params: Any) -> None:
        if subscription is not None:
            params["_meta"] = {PREFIX + "subscriptionId": subscription}
        send(method="notifications/" + method, params=params)

    # -- tools

    def tools_call(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        name = params["name"]
        arguments = params.get("arguments", {})
        if name in QUESTIONS:
            return self.ask(message, *QUESTIONS[name])
        tool = getattr(self, "tool_" + name, None)
        if tool is None:
            return self.refuse(message, -32602, f"Unknown tool: {name}")
        result = tool(message, arguments)
        if result is not None:
            self.answer(message, result)

    def ask(self, message: dict[str, Any], method: str, params: dict[str, Any]) -> None:
        if not is_modern(message):
            question = f"q{message['id']}"
            self.waiting[question] = message
            send(id=question, method=method, params=params)
        elif "inputResponses" in message["params"]:
            self.finish(message, {"result": message["params"]["inputResponses"]["k"]})
        else:
            asked = {"k": {"method": method, "params": params}}
            result = {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}
            send(id=message["id"], result=result)

    def finish(self, message: dict[str, Any], answer: dict[str, Any]) -> None:
        told = answer["result"] if "result" in answer else answer["error"]
        self.answer(message, text(json.dumps(told, sort_keys=True)))

    def tool_echo(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        return text(arguments["text"])

    def tool_capabilities(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        meta = message["params"].get("_meta", {})
        return text(json.dumps(meta.get(PREFIX + "clientCapabilities", self.client)))

    def tool_fail(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        return {**text("no luck"), "isError": True}

    def tool_structured(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [], "structuredContent": {"n": 2**70}}

    def tool_odd(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text"}, {"type": "text", "text": "good"}]}

    def tool_progress(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        token = message["params"].get("_meta", {}).get("progressToken")
        for n in range(arguments["n"]):
            if token is not None:
                told = {
                    "progressToken": token,
                    "progress": n + 1,
                    "total": arguments["n"],
                    "message": f"step {n}",
                }
                send(method="notifications/progress", params=told)
        return text("done")

    def tool_log(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        level = (
            message["params"].get("_meta", {}).get(PREFIX + "logLevel") if is_modern(message) else self.level
        )
        if level is not None:
            send(method="notifications/message", params={"level": level, "logger": "l", "data": {"n": 1}})
        return text(level)

    def tool_hang(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.hanging[message["id"]] = message

    def tool_cancelled(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        return text(f"{self.cancelled} {len(self.hanging)}")

    def tool_change(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        only = arguments.get("only", slice(None))
        told = self.subscriptions[only] if isinstance(only, slice) else [self.subscriptions[only]]
        for subscription in told if is_modern(message) else [None]:
            for _ in range(arguments.get("times", 1)):
                self.tell(subscription, "tools/list_changed")
                self.tell(subscription, "resources/updated", uri="r://1")
        return text("told")

    def tool_end_subscriptions(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        for subscription in self.subscriptions:
            send(id=subscription, result={"resultType": "complete"})
        self.subscriptions.clear()
        return text("ended")

    def tool_die(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        os.write(2, b"out of cheese\n")
        os._exit(3)

    def tool_ask_and_die(self, message: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.ask(message, *QUESTIONS["ask"])
        time.sleep(0.2)
        os._exit(3)

    def tool_stop_reading(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        self.answer(message, text("asleep"))
        time.sleep(arguments["seconds"])
        os._exit(0)

    def tool_noise(self, message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        sys.stdout.buffer.write(b"not JSON\n\n{}\n[1,2\n")
        return text("noisy")


def is_modern(message: dict[str, Any]) -> bool:
    return PREFIX + "protocolVersion" in message.get("params", {}).get("_meta", {})


if __name__ == "__main__":
    server = Server()
    for line in sys.stdin.buffer:
        server.take(json.loads(line))
