"""LangGraph's store on Sensorium."""

from .store import SensoriumStore

__all__ = ["SensoriumStore"]
