from __future__ import annotations

from agents import set_tracing_disabled
from real_server import client, receiver, server

__all__ = ["client", "receiver", "server"]

# Traces would be sent to OpenAI.
set_tracing_disabled(True)
