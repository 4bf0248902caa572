"""Where the server is, and who a program is there."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

DEFAULT_URL = "http://127.0.0.1:3000"


def find_access(url: str | None, api_key: str | None, *, needs_key: bool) -> tuple[str, str | None]:
    """
    The server's origin and the API key: as given, or else from the environment, or else from the profile that
    ``sensorium connect`` saved, whose key is used for its address only. Raises ValueError if there is no key.
    """
    given = url or os.environ.get("SENSORIUM_URL")
    key = api_key or os.environ.get("SENSORIUM_API_KEY")
    if key or not needs_key:
        return origin_of(given or DEFAULT_URL), key
    where, profile = _saved_profile()
    if isinstance(profile, dict):
        origin = origin_of(profile["url"])
        if given is None or origin_of(given) == origin:
            return origin, profile["api_key"]
        profile = f"for {profile['url']}"
    raise ValueError(
        "No API key: run `sensorium connect`, or set SENSORIUM_API_KEY. Looked at:\n"
        f"  api_key: not given\n  SENSORIUM_API_KEY: not set\n  {where}: {profile}\n"
        "For operations that need none, pass anonymous=True."
    )


def origin_of(url: str) -> str:
    """The prefix of operation paths: the addresses of the API and of MCP are understood too."""
    given = url.strip()
    if not re.match("https?://", given, re.IGNORECASE):
        raise ValueError(f"{given!r} is not a URL: expected one like https://sensorium.example.com.")
    address = re.split("[?#]", given, maxsplit=1)[0].rstrip("/")
    return re.sub("/+(?:v1|mcp)$", "", address, flags=re.IGNORECASE)


def _saved_profile() -> tuple[str, dict[str, Any] | str]:
    """Where the command line's profile is, and the profile, if it has a key, or else why not."""
    configured = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(configured) if os.path.isabs(configured) else Path.home() / ".config"
    file = folder / "sensorium" / "profiles.json"
    name = os.environ.get("SENSORIUM_PROFILE", "")
    try:
        profiles = json.loads(file.read_text())
    except FileNotFoundError:
        return f"profile {name or 'default'} in {file}", "not there"
    except (OSError, ValueError) as error:
        return f"profile {name or 'default'} in {file}", f"cannot be read: {error}"
    name = name or next((each for each, saved in profiles.items() if saved.get("current")), "default")
    where, saved = f"profile {name} in {file}", profiles.get(name)
    if saved is None:
        return where, "not there"
    return where, saved if saved.get("api_key") else "without a key"
