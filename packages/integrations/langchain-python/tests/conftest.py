from __future__ import annotations

from real_server import client, server

__all__ = ["client", "server"]
