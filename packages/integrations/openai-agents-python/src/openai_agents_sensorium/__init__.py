"""The OpenAI Agents SDK on Sensorium."""

from .session import SensoriumSession
from .tools import sensorium_tools

__all__ = ["SensoriumSession", "sensorium_tools"]
