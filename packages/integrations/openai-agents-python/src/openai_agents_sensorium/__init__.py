"""The OpenAI Agents SDK on Sensorium."""

from .run import run_on_events
from .session import SensoriumSession
from .tools import sensorium_tools

__all__ = ["SensoriumSession", "run_on_events", "sensorium_tools"]
