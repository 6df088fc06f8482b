"""Loads asyncio without its TLS half, which loads itself when something first uses it.

OpenSSL is a good third of what asyncio costs in time and memory, and a server on standard input
and output has no use for it. The modules are the real ones from the start for whoever imports
them; only their code runs late, at the first look at an attribute, under a lock.
"""

from __future__ import annotations

import _thread
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_LATE = ("ssl", "asyncio.sslproto")
_lock = _thread.RLock()


def import_asyncio() -> None:
    """Import asyncio; nothing special happens if it or its TLS half is loaded already."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    finder: Any = _Finder
    sys.meta_path.insert(0, finder)
    try:
        import asyncio  # noqa: F401
    finally:
        sys.meta_path.remove(finder)


class _Finder:
    """Finds the late modules as ever, and has them loaded by `_Loader`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec: Any = PathFinder.find_spec(name, path, target) if name in _LATE else None
        if spec is not None:
            spec.loader = _Loader(spec.loader)
        found: ModuleSpec | None = spec
        return found


class _Loader:
    """Makes a module that runs its code by itself later."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _LateModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__late__"] = self._loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _LateModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        # Other threads wait here until the module is whole; this one sees it grow, as in any import.
        with _lock:
            loader = self.__dict__.pop("__late__", None)
            if loader is not None:
                self.__loader__ = loader
                if self.__spec__ is not None:
                    self.__spec__.loader = loader
                loader.exec_module(self)
                self.__class__ = ModuleType  # type: ignore[assignment]
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None
