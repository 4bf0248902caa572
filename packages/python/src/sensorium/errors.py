"""What goes wrong between a program and the service."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx


class SensoriumError(Exception):
    """The base of all errors of this package."""


class ConnectionFailed(SensoriumError):
    """No complete answer: the address is wrong, the network is down, or the request took too long."""


class ApiError(SensoriumError):
    """The service refused the request, or something else answered in its place."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int,
        details: Mapping[str, Any],
        request_id: str | None,
        retry_after: float | None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        """Code of the catalogue (docs/reference/errors.md); `unexpected_answer` if, say, a proxy answered."""
        self.status = status
        self.details = details
        """`field`, `resource_id`, `retry_after_seconds` …, depending on the code."""
        self.request_id = request_id
        """To quote to the operator; it is in the service's log."""
        self.retry_after = retry_after
        """Seconds to wait before the same request; None if the service named none."""


class NotFound(ApiError):
    """404: it does not exist, or the caller may not know of it."""


class Refused(ApiError):
    """401 or 403: the credential, or what it allows."""


class Conflict(ApiError):
    """409: the state of the resource does not allow it."""


class Invalid(ApiError):
    """400 or 422: `details["field"]` names what is wrong."""


class RateLimited(ApiError):
    """429, after all retries."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: Invalid,
    401: Refused,
    403: Refused,
    404: NotFound,
    409: Conflict,
    422: Invalid,
    429: RateLimited,
}


def error_of(response: httpx.Response) -> ApiError:
    """Returns the error for an answer whose body was read."""
    text = response.text
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    error = body.get("error") if isinstance(body, dict) else None
    told = error if isinstance(error, dict) else {}
    shown = " ".join(text.split())[:200]
    return _BY_STATUS.get(response.status_code, ApiError)(
        told.get("message") or f"{response.status_code} {response.reason_phrase}: {shown}",
        code=told.get("code") or "unexpected_answer",
        status=response.status_code,
        details=told.get("details") or {},
        request_id=told.get("request_id") or response.headers.get("x-request-id"),
        retry_after=_seconds(response.headers.get("retry-after")),
    )


def redirect_error(url: str, response: httpx.Response) -> ApiError:
    """Returns the error for a redirect. Nothing follows one: the credentials were given for one address only."""
    try:
        target = httpx.URL(url).join(response.headers.get("location", "")).copy_with(query=None, fragment=None)
    except httpx.InvalidURL:
        target = httpx.URL(url)
    where = str(target.copy_with(username="", password=""))
    is_secured = target.scheme == "https" and url.startswith("http:")
    advice = (
        f"Use the address with https: https://{target.netloc.decode()}."
        if is_secured
        else "Use the service's own address, if that is it."
    )
    return ApiError(
        f"{url} redirects to {where}, and credentials are sent only to the given address. {advice}",
        code="unexpected_answer",
        status=response.status_code,
        details={"location": where},
        request_id=None,
        retry_after=None,
    )


def _seconds(header: str | None) -> float | None:
    try:
        return float(header) if header is not None else None
    except ValueError:
        return None
