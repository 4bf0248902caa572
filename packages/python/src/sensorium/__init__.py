"""Client of Sensorium, the server where AI agents sense, remember and work together."""

from . import models
from ._flow import VERSION as __version__
from ._flow import Wait
from .client import AsyncSensorium, Sensorium
from .errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    Invalid,
    NotFound,
    RateLimited,
    Refused,
    SensoriumError,
)
from .listen import Delivery, GiveUp, RetryLater
from .mcp import McpEndpoint, mcp_endpoint
from .quoted import quote_as_data, quote_excerpt

__all__ = [
    "ApiError",
    "AsyncSensorium",
    "Conflict",
    "ConnectionFailed",
    "Delivery",
    "GiveUp",
    "Invalid",
    "McpEndpoint",
    "NotFound",
    "RateLimited",
    "Refused",
    "RetryLater",
    "Sensorium",
    "SensoriumError",
    "Wait",
    "__version__",
    "mcp_endpoint",
    "models",
    "quote_as_data",
    "quote_excerpt",
]
