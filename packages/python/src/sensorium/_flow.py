"""The logic of requests. The synchronous and the asynchronous client only differ in the transport that they give it."""

from __future__ import annotations

import json
import logging
import math
import random
import re
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol
from urllib.parse import quote

import httpx

from ._operation import Operation
from .errors import ApiError, ConnectionFailed, error_of, redirect_error

RETRYABLE = {429, 500, 502, 503, 504}
NOT_EXECUTED = {429, 503}
"""The request was not carried out: it may be repeated even without an idempotency key."""

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 60.0
RENEW_AFTER = 0.9
"""The share of a token's life after which it is renewed."""

IN_PATH = re.compile(r"\{(\w+)\}")

VERSION = "0.1.0"
_log = logging.getLogger("sensorium")
TOKEN = Operation(method="POST", path="/auth/token", open=True)


@dataclass(frozen=True)
class Wait:
    """A request that the service asked to send later."""

    message: str
    """Says what waits, how long and why."""
    seconds: int
    error: ApiError


class Transport(Protocol):
    @property
    def lock(self) -> AbstractAsyncContextManager[Any]:
        """Held while a token is exchanged."""

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None, timeout: float | None
    ) -> httpx.Response: ...

    async def sleep(self, seconds: float) -> None: ...


@dataclass
class Connection:
    """Settings of requests; times in seconds."""

    origin: str
    api_key: str | None
    token: str | Callable[[], str] | None
    retries: int
    timeout: float
    on_wait: Callable[[Wait], object] | None = None
    """Default: a warning of the logger, the first time."""
    clock_ahead: float = 0.0
    """Seconds that the service's clock is ahead of this one: leases and tokens end by the service's."""
    _granted: tuple[str, float] | None = field(default=None)
    _has_warned: bool = False

    def tell(self, wait: Wait) -> None:
        if self.on_wait:
            self.on_wait(wait)
        elif not self._has_warned:
            _log.warning("%s", wait.message)
        self._has_warned = True

    def forget_token(self) -> bool:
        """Whether a retry with a new token is worthwhile."""
        had = self._granted is not None
        self._granted = None
        return had and self.api_key is not None


async def request(
    connection: Connection,
    transport: Transport,
    operation: Operation,
    params: Mapping[str, Any],
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> httpx.Response:
    """Sends a request, with retries where that is safe; returns the answer, read. Raises ApiError, ConnectionFailed."""
    url = _url(connection, operation, params)
    content, headers = _body(operation, params)
    key = idempotency_key or _key(operation)
    if key is not None:
        headers["idempotency-key"] = key
    headers["user-agent"] = f"sensorium-python/{VERSION}"
    limit = timeout if timeout is not None else connection.timeout
    failures, renewed = 0, False
    while True:
        error: ApiError | ConnectionFailed
        try:
            own = {} if operation.open else await _authorization(connection, transport)
            response = await transport.send(operation.method, url, {**headers, **own}, content, limit)
            connection.clock_ahead = _clock_ahead(response, connection.clock_ahead)
            if response.is_success:
                return response
            error = redirect_error(url, response) if response.is_redirect else error_of(response)
        except httpx.RequestError as failed:
            error = ConnectionFailed(f"{operation.method} {url}: {failed or type(failed).__name__}")
            # Without the eighty lines of the frames within httpx.
            failed.__cause__, failed.__suppress_context__ = None, True
            error.__cause__ = failed.with_traceback(None)
        except ApiError as refused:
            raise refused
        if not operation.open and not renewed and _is_credential(error) and connection.forget_token():
            renewed = True
            continue
        if failures >= connection.retries or not _may_retry(operation, error, key):
            raise error
        failures += 1
        pause = _pause(failures, error)
        if isinstance(error, ApiError) and error.retry_after:
            seconds = math.ceil(pause)
            message = f"Waiting {seconds} s to repeat {operation.method} {operation.path}: {error}"
            connection.tell(Wait(message, seconds, error))
        await transport.sleep(pause)


async def _authorization(connection: Connection, transport: Transport) -> dict[str, str]:
    if connection.api_key is None:
        token = connection.token() if callable(connection.token) else connection.token
        return {} if token is None else {"authorization": f"Bearer {token}"}
    held = connection._granted
    if held is None or time.monotonic() >= held[1]:
        async with transport.lock:
            # Another request may have renewed it meanwhile.
            if connection._granted is held:
                connection._granted = await _exchange(connection, transport)
        held = connection._granted
    if held is None:
        return await _authorization(connection, transport)
    return {"authorization": f"Bearer {held[0]}"}


async def _exchange(connection: Connection, transport: Transport) -> tuple[str, float]:
    started = time.monotonic()
    response = await request(connection, transport, TOKEN, {"api_key": connection.api_key})
    body = response.json()
    return body["access_token"], started + max(0.0, seconds_until(connection, body["expires_at"])) * RENEW_AFTER


def seconds_until(connection: Connection, at: str) -> float:
    """Returns the seconds until a time of the service, by its clock."""
    until = datetime.fromisoformat(at.replace("Z", "+00:00"))
    return until.timestamp() - time.time() - connection.clock_ahead


def _clock_ahead(response: httpx.Response, before: float) -> float:
    try:
        return parsedate_to_datetime(response.headers["date"]).timestamp() - time.time()
    except (KeyError, ValueError):
        return before


def answer_of(operation: Operation, response: httpx.Response) -> Any:
    """Returns an answer's content: JSON, text or bytes; None if it is empty."""
    if not response.content:
        return None
    kind = response.headers.get("content-type", "")
    if "json" in kind.split(";")[0] and not operation.file:
        return response.json()
    if operation.document:
        return response.text if kind.startswith("text/") and "charset=utf-8" in kind.lower() else response.content
    raise error_of(response)


def _url(connection: Connection, operation: Operation, params: Mapping[str, Any]) -> str:
    path = IN_PATH.sub(lambda found: _segment(found[1], params.get(found[1])), operation.path)
    used = IN_PATH.findall(operation.path)
    names = operation.query if operation.has_body else tuple(params)
    query = httpx.QueryParams(
        [(name, _text(value)) for name in names if name not in used for value in _values(params.get(name))]
    )
    text = f"?{query}" if query else ""
    return f"{connection.origin}{'' if operation.root else '/v1'}{path}{text}"


def _segment(name: str, value: Any) -> str:
    segment = quote(str(value if value is not None else ""), safe="")
    if segment in ("", ".", ".."):
        raise ValueError(f'{name} is {value!r}: expected an id or a name, not empty, "." or "..".')
    return segment


def _values(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return _time(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _body(operation: Operation, params: Mapping[str, Any]) -> tuple[bytes | None, dict[str, str]]:
    if not operation.has_body:
        return None, {}
    whole = params.get(operation.whole) if operation.whole else None
    headers = {"content-type": _media_type(operation, whole)}
    if isinstance(whole, bytes):
        return whole, headers
    if isinstance(whole, str):
        return whole.encode(), headers
    elsewhere = {*IN_PATH.findall(operation.path), *operation.query}
    fields = {name: value for name, value in params.items() if name not in elsewhere}
    return json.dumps(whole if whole is not None else fields, default=_plain).encode(), headers


def _time(value: datetime) -> str:
    """Without a time zone, a time is local, as everywhere in Python."""
    return value.astimezone().isoformat()


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return _time(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    return list(value)


def _media_type(operation: Operation, whole: Any) -> str:
    sends = operation.sends or "application/json"
    is_batch = sends == "application/cloudevents+json" and isinstance(whole, (list, tuple))
    return "application/cloudevents-batch+json" if is_batch else sends


def _key(operation: Operation) -> str | None:
    return str(uuid.uuid4()) if operation.has_body and not operation.open and not operation.repeatable else None


def _may_retry(operation: Operation, error: ApiError | ConnectionFailed, key: str | None) -> bool:
    repeatable = not operation.open or not operation.has_body
    safe = repeatable and (key is not None or operation.repeatable or not operation.has_body)
    if isinstance(error, ConnectionFailed):
        return safe
    return error.status in NOT_EXECUTED or (safe and error.status in RETRYABLE)


def _is_credential(error: Exception) -> bool:
    return (
        isinstance(error, ApiError) and error.status == 401 and error.details.get("reason") != "agent_identity_required"
    )


def _pause(failures: int, error: Exception) -> float:
    told = error.retry_after if isinstance(error, ApiError) else None
    jitter = 0.5 + random.random()
    wanted = FIRST_PAUSE * 2 ** (failures - 1) * jitter if told is None else told + 0.1 * jitter
    return min(wanted, LONGEST_PAUSE)
