"""The checkpointer: what a graph needs to go on, in this process or another one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from sensorium import AsyncSensorium, Sensorium

from . import checkpoints, deltas, threads
from .calls import Clients
from .listing import Listing


class SensoriumSaver(BaseCheckpointSaver[int]):
    """
    A checkpointer for LangGraph on a Sensorium server. Checkpoints and writes are state of the agent whose key the
    client has: no other agent sees them, and no search finds them.

    ``client`` is for ``invoke``, ``get_state`` …, ``async_client`` for ``ainvoke``, ``aget_state`` …. One that is not
    given is made like the other, or from the environment's SENSORIUM_URL and SENSORIUM_API_KEY. The methods raise
    ApiError and ConnectionFailed, of ``sensorium``.
    """

    def __init__(
        self,
        client: Sensorium | None = None,
        async_client: AsyncSensorium | None = None,
        *,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._clients = Clients("state", client, async_client)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._clients.run(checkpoints.get_tuple(self.serde, config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._clients.arun(checkpoints.get_tuple(self.serde, config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        listing = Listing(self.serde, config, filter, before, limit)
        while (page := self._clients.run(listing.more())) is not None:
            yield from page

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        listing = Listing(self.serde, config, filter, before, limit)
        while (page := await self._clients.arun(listing.more())) is not None:
            for found in page:
                yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self._clients.run(checkpoints.put(self.serde, config, checkpoint, metadata))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self._clients.arun(checkpoints.put(self.serde, config, checkpoint, metadata))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._clients.run(checkpoints.put_writes(self.serde, config, writes, task_id, task_path))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._clients.arun(checkpoints.put_writes(self.serde, config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        self._clients.run(threads.delete_thread(thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        await self._clients.arun(threads.delete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._clients.run(threads.delete_for_runs(run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self._clients.arun(threads.delete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._clients.run(threads.copy_thread(source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self._clients.arun(threads.copy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        for thread_id in thread_ids:
            self._clients.run(threads.prune(self.serde, thread_id, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        for thread_id in thread_ids:
            await self._clients.arun(threads.prune(self.serde, thread_id, strategy))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return self._clients.run(deltas.history(self.serde, config, channels))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return await self._clients.arun(deltas.history(self.serde, config, channels))
