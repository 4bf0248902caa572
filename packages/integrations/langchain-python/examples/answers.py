"""Answers a question from memories. The model's answer is given, so that this runs without one."""

from __future__ import annotations

from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from sensorium import Sensorium

from langchain_sensorium import SensoriumRetriever

client = Sensorium()
client.memories.put_by_key(
    namespace="tea-house", key="ada", title="Tea", content="Ada drinks green tea in the morning."
)

retriever = SensoriumRetriever(client=client, k=3, search_kwargs={"namespace": "tea-house"})
prompt = ChatPromptTemplate.from_template("Answer from this alone: {context}\n\n{question}")
model = FakeListChatModel(responses=["Green tea."])
chain = {"context": retriever, "question": RunnablePassthrough()} | prompt | model

question = "What does Ada drink?"
print([document.page_content for document in retriever.invoke(question)])
print(chain.invoke(question).content)
