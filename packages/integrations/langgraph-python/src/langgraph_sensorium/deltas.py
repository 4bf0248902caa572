"""The values of DeltaChannels, which are made from the writes since the checkpoint that has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, DeltaChannelHistory, get_checkpoint_id
from langgraph.checkpoint.serde.base import SerializerProtocol

from .calls import Steps
from .checkpoints import get_tuple, place_of
from .listing import Listing


def history(
    serde: SerializerProtocol, config: RunnableConfig, channels: Sequence[str]
) -> Steps[Mapping[str, DeltaChannelHistory]]:
    """Does what BaseCheckpointSaver does, with lists of many ancestors instead of requests for each."""
    found: dict[str, DeltaChannelHistory] = {channel: {"writes": []} for channel in channels}
    target = (yield from get_tuple(serde, config)) if channels else None
    if target is None:
        return found
    place = place_of(config)
    thread: RunnableConfig = {
        "configurable": {"thread_id": place.thread_id, "checkpoint_ns": place.checkpoint_ns, "checkpoint_id": None}
    }
    listing = Listing(serde, thread, None, target.config, None)
    parent = target.parent_config
    while parent and any("seed" not in each for each in found.values()):
        page = yield from listing.more()
        if page is None:
            break
        for ancestor in page:
            # Others are of forks.
            if parent and ancestor.checkpoint["id"] == get_checkpoint_id(parent):
                _collect(found, ancestor)
                parent = ancestor.parent_config
    return found


def _collect(found: dict[str, DeltaChannelHistory], ancestor: CheckpointTuple) -> None:
    for channel, history in found.items():
        if "seed" in history:
            continue
        own = [write for write in ancestor.pending_writes or [] if write[1] == channel]
        history["writes"] = own + history["writes"]
        values = ancestor.checkpoint["channel_values"]
        if channel in values:
            history["seed"] = values[channel]
