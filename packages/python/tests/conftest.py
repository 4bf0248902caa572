from __future__ import annotations

from real_server import Server, client, receiver, server

__all__ = ["Server", "client", "receiver", "server"]
