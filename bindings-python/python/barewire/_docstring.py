"""Argument descriptions out of docstrings: Google, NumPy and reST styles.

The rest of the docstring is what describes the handler; only the section that lists the
arguments is taken out of it, because the input schema carries that text.
"""

from __future__ import annotations

_GOOGLE = frozenset(
    {
        "args:",
        "arguments:",
        "params:",
        "parameters:",
        "attributes:",
        "keyword args:",
        "keyword arguments:",
        "other parameters:",
    }
)
_NUMPY = frozenset({"parameters", "other parameters", "attributes", "keyword arguments"})
_REST = (":param ", ":parameter ", ":arg ", ":argument ", ":key ", ":keyword ", ":ivar ")
_REST_TYPE = (":type ", ":vartype ")


def parse(docstring: str | None) -> tuple[str, dict[str, str]]:
    """Split a docstring into its text and the descriptions of its arguments by name."""
    if not docstring:
        return "", {}
    lines = _dedent(docstring)
    kept: list[str] = []
    found: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        taken = 0
        word = line.strip().lower()
        if word in _GOOGLE:
            taken = _google(lines, at, found)
        elif word in _NUMPY and _is_rule(lines, at + 1):
            taken = _numpy(lines, at, found)
        elif word.startswith((*_REST, *_REST_TYPE)):
            taken = _rest(lines, at, found)
        if taken:
            at += taken
        else:
            kept.append(line)
            at += 1
    return _trim(kept), found


def clean(docstring: str | None) -> str:
    """A docstring without its indent and its outer blank lines."""
    return "\n".join(_dedent(docstring)).strip() if docstring else ""


def _dedent(docstring: str) -> list[str]:
    """The lines of a docstring without their common indent, as PEP 257 asks."""
    lines = docstring.expandtabs().splitlines()
    indents = [_indent(line) for line in lines[1:] if line.strip()]
    margin = min(indents, default=0)
    return [lines[0].strip(), *(line[margin:].rstrip() for line in lines[1:])]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _trim(lines: list[str]) -> str:
    """Join the lines, with runs of blank lines (left by what was taken out) made one."""
    out: list[str] = []
    for line in lines:
        if line or (out and out[-1]):
            out.append(line)
    return "\n".join(out).strip()


def _is_rule(lines: list[str], at: int) -> bool:
    if at >= len(lines):
        return False
    line = lines[at].strip()
    return len(line) >= 3 and not line.strip("-")


def _join(lines: list[str]) -> str:
    return " ".join(part for part in (line.strip() for line in lines) if part)


def _names(text: str) -> list[str]:
    names = [name.strip().lstrip("*") for name in text.split(",")]
    return names if all(name.isidentifier() for name in names) else []


def _store(found: dict[str, str], names: list[str], lines: list[str]) -> None:
    text = _join(lines)
    if text:
        for name in names:
            found.setdefault(name, text)


def _google(lines: list[str], start: int, found: dict[str, str]) -> int:
    """Read `Args:` and the deeper lines below it; how many lines that was, 0 if it is no section."""
    margin = _indent(lines[start])
    end = start + 1
    while end < len(lines) and (not lines[end] or _indent(lines[end]) > margin):
        end += 1
    block = lines[start + 1 : end]
    depth = min((_indent(line) for line in block if line), default=0)
    names: list[str] = []
    body: list[str] = []
    entries = 0
    for line in block:
        if line and _indent(line) == depth:
            head, colon, text = _split_google(line)
            if colon:
                _store(found, names, body)
                names, body = _names(head), [text]
                entries += bool(names)
                continue
        body.append(line)
    _store(found, names, body)
    return end - start if entries else 0


def _split_google(line: str) -> tuple[str, str, str]:
    """`name (type): text` into name, colon and text; the type may hold colons itself."""
    level = 0
    for at, char in enumerate(line):
        if char in "([{":
            level += 1
        elif char in ")]}":
            level -= 1
        elif char == ":" and level == 0:
            return line[:at].partition("(")[0], ":", line[at + 1 :]
    return line, "", ""


def _numpy(lines: list[str], start: int, found: dict[str, str]) -> int:
    """Read `Parameters`, its rule and the entries below up to the next section."""
    margin = _indent(lines[start])
    names: list[str] = []
    body: list[str] = []
    at = start + 2
    while at < len(lines) and not _is_rule(lines, at + 1):
        line = lines[at]
        if line and _indent(line) == margin:
            _store(found, names, body)
            names, body = _names(line.partition(":")[0]), []
        else:
            body.append(line)
        at += 1
    _store(found, names, body)
    return at - start


def _rest(lines: list[str], start: int, found: dict[str, str]) -> int:
    """Read one `:param name: text` field with its deeper continuation lines."""
    margin = _indent(lines[start])
    field, _, text = lines[start].strip()[1:].partition(":")
    body = [text]
    at = start + 1
    while at < len(lines) and lines[at] and _indent(lines[at]) > margin:
        body.append(lines[at])
        at += 1
    words = field.split()
    if words[0] not in ("type", "vartype") and len(words) > 1:
        _store(found, _names(words[-1]), body)
    return at - start
