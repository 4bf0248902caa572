"""LangGraph's store and checkpointer on Sensorium."""

from .saver import SensoriumSaver
from .store import SensoriumStore

__all__ = ["SensoriumSaver", "SensoriumStore"]
