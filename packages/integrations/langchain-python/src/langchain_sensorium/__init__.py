"""LangChain on Sensorium."""

from .retriever import SensoriumRetriever
from .tools import sensorium_connection

__all__ = ["SensoriumRetriever", "sensorium_connection"]
