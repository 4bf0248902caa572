from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """An object in an answer. Fields that a later version of the service adds are kept."""

    # Built on first use: there are over a hundred, and a program needs few of them.
    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=(), defer_build=True)
