"""The retriever: what Sensorium's search finds, as LangChain's documents."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from pydantic import ConfigDict, Field
from sensorium import AsyncSensorium, Sensorium, models


class SensoriumRetriever(BaseRetriever):
    """
    Finds memories, or passages of documents, by words and by meaning: those that the agent may read, the best first.

    Without ``client``, one is made from the environment's SENSORIUM_URL and SENSORIUM_API_KEY. Without
    ``async_client``, ``ainvoke`` searches in a thread. ``search_kwargs`` are further parameters of the search, such as
    ``scope``, ``tags``, ``namespace`` or ``min_score``. Raises ApiError and ConnectionFailed, of ``sensorium``.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    source: Literal["memories", "documents"] = "memories"
    k: int = 4
    """The most that a search returns, also as an argument of ``invoke``."""
    search_kwargs: dict[str, Any] = Field(default_factory=dict)
    client: Sensorium | None = Field(default=None, repr=False, exclude=True)
    async_client: AsyncSensorium | None = Field(default=None, repr=False, exclude=True)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun | None = None, k: int | None = None
    ) -> list[Document]:
        self.client = self.client or Sensorium()
        wanted = self._search(query, k)
        if self.source == "memories":
            return [_of_memory(found) for found in self.client.memories.search(**wanted).results]
        return [_of_chunk(found) for found in self.client.documents.search(**wanted).results]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun | None = None, k: int | None = None
    ) -> list[Document]:
        if self.async_client is None:
            return await run_in_executor(None, self._get_relevant_documents, query, k=k)
        wanted = self._search(query, k)
        if self.source == "memories":
            return [_of_memory(found) for found in (await self.async_client.memories.search(**wanted)).results]
        return [_of_chunk(found) for found in (await self.async_client.documents.search(**wanted)).results]

    def _search(self, query: str, k: int | None) -> dict[str, Any]:
        return {**self.search_kwargs, "query": query, "limit": self.k if k is None else k}


def _of_memory(found: models.MemoriesSearchResultResultsItem) -> Document:
    memory = found.memory
    return Document(
        id=memory.id,
        page_content=memory.content,
        metadata={
            "source": memory.source_url or f"sensorium://memories/{memory.id}",
            "title": memory.title,
            "score": found.score,
            **memory.model_dump(include={"type", "scope", "tags", "namespace", "key", "metadata", "updated_at"}),
        },
    )


def _of_chunk(found: models.DocumentsSearchResultResultsItem) -> Document:
    chunk, document = found.chunk, found.document
    return Document(
        id=chunk.chunk_id,
        page_content=chunk.text,
        metadata={
            "source": document.filename,
            "document_id": document.document_id,
            "version": document.version_num,
            "page": chunk.page_number,
            "start_index": chunk.char_offset,
            "score": found.score,
        },
    )
