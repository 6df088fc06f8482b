"""Names for groups of types of `barewire._native`, which loads this module when one is asked for."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ._native import (
    CompletionRequested,
    Disconnected,
    Drained,
    EventAppended,
    InputRequired,
    InputWithdrawn,
    ListChanged,
    LogReceived,
    MessageDiscarded,
    NotificationReceived,
    ProgressReceived,
    PromptRequested,
    Ready,
    ReplayRequested,
    RequestCancelled,
    RequestFailed,
    RequestReceived,
    ResourceReadRequested,
    ResourceUpdated,
    ResponseReceived,
    RestartRequired,
    SessionClosed,
    SessionNamed,
    SessionOpened,
    SessionReplaced,
    SessionRequested,
    StreamsForgotten,
    SubscriptionAcknowledged,
    SubscriptionClosed,
    SubscriptionEnded,
    SubscriptionOpened,
    ToolCalled,
    ToolOmitted,
    ViolationTolerated,
)

Json: TypeAlias = bytes | str
"""JSON text on its way in; bytes are UTF-8."""
Era: TypeAlias = Literal["legacy", "modern"]
"""The two ways the protocol has worked: with a handshake and sessions, or stateless."""
InputKindName: TypeAlias = Literal["elicitation", "sampling", "roots"]
"""What a server can ask of its client."""
ListKindName: TypeAlias = Literal["tools", "resources", "prompts"]
"""The lists of a server that can change."""
LogLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""How severe a log message is, least severe first."""
Event: TypeAlias = (
    NotificationReceived
    | ViolationTolerated
    | MessageDiscarded
    | Disconnected
    | Ready
    | SessionReplaced
    | ToolOmitted
    | RestartRequired
    | ResponseReceived
    | RequestFailed
    | InputRequired
    | InputWithdrawn
    | ProgressReceived
    | LogReceived
    | SubscriptionAcknowledged
    | SubscriptionEnded
    | ListChanged
    | ResourceUpdated
    | ToolCalled
    | ResourceReadRequested
    | PromptRequested
    | CompletionRequested
    | RequestReceived
    | RequestCancelled
    | SubscriptionOpened
    | SubscriptionClosed
    | SessionOpened
    | SessionClosed
    | Drained
    | SessionRequested
    | SessionNamed
    | EventAppended
    | ReplayRequested
    | StreamsForgotten
)
"""Whatever a machine tells its application."""
