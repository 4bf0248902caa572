"""LangGraph's store and checkpointer on Sensorium."""

from .resume import resume_on_events
from .saver import SensoriumSaver
from .store import SensoriumStore

__all__ = ["SensoriumSaver", "SensoriumStore", "resume_on_events"]
