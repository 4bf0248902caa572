from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pages import blocks, output_of, run_blocks
from real_server import Server
from sensorium import ApiError, AsyncSensorium, Sensorium

from langchain_sensorium import SensoriumRetriever

EXAMPLE = Path(__file__).parents[1] / "examples" / "answers.py"
README = Path(__file__).parents[1] / "README.md"
BOOK = "# Pumps\n\nThe red lever starts the pump by hand. " + " ".join(f"Pump {n} has a red lever." for n in range(900))


@pytest.fixture(scope="module")
def agent(server: Server) -> Iterator[Sensorium]:
    """Knows about pumps, from memories and from a document."""
    with Sensorium(server.url, server.api_key) as admin:
        agent = admin.agents.create(name="plumber", delivery_mode="poll")
        key = admin.keys.create(agent_id=agent.id, scopes=["memory:read", "memory:write"]).key
    with Sensorium(server.url, key) as own:
        for n, what in enumerate(["starts", "stops", "drains", "cools"]):
            own.memories.create(
                title=f"Lever {n}",
                content=f"The lever number {n} {what} the pump.",
                type="procedural",
                scope="agent",
                tags=["even" if n % 2 == 0 else "odd"],
                metadata={"lever": n},
            )
        content = base64.b64encode(BOOK.encode()).decode()
        document = own.documents.upload(filename="pumps.md", mime_type="text/markdown", file_content=content)
        _wait_until_stored(own, document.document_id or "")
        yield own


def _wait_until_stored(client: Sensorium, document_id: str) -> None:
    while (document := client.documents.get(document_id=document_id)).status != "stored":
        assert document.status != "failed", document.error
        time.sleep(0.05)


class StandardTests(RetrieversIntegrationTests):
    """LangChain's own."""

    source: str

    @pytest.fixture(autouse=True)
    def _given(self, agent: Sensorium) -> None:
        self.agent = agent

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return SensoriumRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"client": self.agent, "source": self.source}

    @property
    def retriever_query_example(self) -> str:
        return "Which lever starts the pump?"


class TestMemories(StandardTests):
    source = "memories"


class TestDocuments(StandardTests):
    source = "documents"


del StandardTests, RetrieversIntegrationTests


def test_says_where_a_memory_is_from(agent: Sensorium) -> None:
    retriever = SensoriumRetriever(client=agent, k=1, search_kwargs={"tags": ["odd"]})
    [found] = retriever.invoke("Which lever stops the pump?")
    assert found.page_content == "The lever number 1 stops the pump."
    assert found.metadata["source"] == f"sensorium://memories/{found.id}"
    assert found.metadata["metadata"] == {"lever": 1} and found.metadata["tags"] == ["odd"]
    assert found.metadata["title"] == "Lever 1" and 0 < found.metadata["score"] <= 1


def test_says_where_a_passage_is_from(agent: Sensorium) -> None:
    found, *_ = SensoriumRetriever(client=agent, source="documents").invoke("How does the pump start by hand?")
    assert "starts the pump by hand" in found.page_content
    assert (found.metadata["source"], found.metadata["version"], found.metadata["page"]) == ("pumps.md", 1, None)
    assert found.metadata["start_index"] >= 0 and found.metadata["score"] > 0


def test_searches_for_several_at_once_with_asyncio(agent: Sensorium) -> None:
    async def run() -> None:
        async with AsyncSensorium(agent._connection.origin, agent._connection.api_key) as client:
            memories = SensoriumRetriever(async_client=client, k=1)
            found = await memories.abatch(["Which lever drains the pump?", "Which lever cools the pump?"])
            assert [document.metadata["metadata"]["lever"] for [document] in found] == [2, 3]
            passages = SensoriumRetriever(async_client=client, source="documents")
            assert await passages.ainvoke("How does the pump start by hand?", None, k=1)

    asyncio.run(run())


def test_stands_in_a_chain(agent: Sensorium) -> None:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    given = {"context": SensoriumRetriever(client=agent, k=2), "question": RunnablePassthrough()}
    chain: Any = given | prompt | FakeListChatModel(responses=["The lever number 0."]) | StrOutputParser()
    assert chain.invoke("Which lever starts the pump?") == "The lever number 0."


def test_says_what_is_wrong(agent: Sensorium) -> None:
    with pytest.raises(ApiError, match="limit: expected"):
        SensoriumRetriever(client=agent, k=0).invoke("pump")
    with pytest.raises(ValueError, match="'memories' or 'documents'"):
        SensoriumRetriever(client=agent, source="dreams")  # type: ignore[arg-type]


def test_hides_the_key(agent: Sensorium) -> None:
    assert str(agent._connection.api_key) not in repr(SensoriumRetriever(client=agent))


def test_the_example(server: Server) -> None:
    assert output_of(EXAMPLE, server) == blocks(README, "text")[0]


def test_the_readme(server: Server, agent: Sensorium, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENSORIUM_URL", server.url)
    monkeypatch.setenv("SENSORIUM_API_KEY", str(agent._connection.api_key))
    names = run_blocks(README)
    assert len(names["retriever"].invoke("Which lever cools the pump?")) == 3
    assert names["passages"].invoke("How does the pump start by hand?")
    assert "memories_update" in [tool.name for tool in names["tools"]]
