"""For tests: clients and servers joined in memory.

``barewire.Client(server)`` and ``barewire.sync.Client(server)`` serve a :class:`barewire.Server` in memory,
with real handlers. :class:`Pair` joins two machines of :mod:`barewire.sansio` on a clock that only moves when
it is told to, so that timeouts can be tested without waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sansio import Client, Event, Server

__all__ = ["Pair"]


class Pair:
    """A client and a server machine that hand each other their bytes. `now` is in milliseconds.

    Both machines have to be made with times from the same origin, as a rule 0.
    """

    def __init__(self, client: Client, server: Server, *, now: int = 0) -> None:
        self.client = client
        self.server = server
        self.now = now
        #: What the client has told since it was last emptied.
        self.client_events: list[Event] = []
        #: What the server has told since it was last emptied.
        self.server_events: list[Event] = []

    def exchange(self) -> None:
        """Hand over bytes until neither side has any."""
        while True:
            self.client_events += self.client.events()
            self.server_events += self.server.events()
            requests, answers = self.client.data_to_send(), self.server.data_to_send()
            if not requests and not answers:
                return
            if requests:
                self.server_events += self.server.receive_data(requests, self.now)
            if answers:
                self.client_events += self.client.receive_data(answers, self.now)

    def advance(self, milliseconds: int) -> None:
        """Let time pass, stopping at every moment in between at which one side wants to be called."""
        end = self.now + milliseconds
        while True:
            self.exchange()
            due = [
                time for time in (self.client.poll_timeout(), self.server.poll_timeout()) if time is not None
            ]
            if not due or min(due) > end:
                break
            self.now = max(self.now, min(due))
            self.client_events += self.client.handle_timeout(self.now)
            self.server_events += self.server.handle_timeout(self.now)
        self.now = end
