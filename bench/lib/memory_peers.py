"""Other memories on the same conversations and the same vectors; `memory-peers.ts` runs it.

Reads `{embedder, conversations: [{id, turns: [{id, text}], questions}]}` from the file named, and prints for each system
one line `{system, found}`: the ids found for each question of each conversation, best first.
"""

import json
import os
import re
import sqlite3
import sys
import tempfile
import traceback
import urllib.request

os.environ.update(ANONYMIZED_TELEMETRY="False", MEM0_TELEMETRY="False", MEM0_DIR=tempfile.mkdtemp())
BATCH = 32
LIMIT = 10
# Of reciprocal rank fusion.
K = 60
DEPTH = 100

with open(sys.argv[1], encoding="utf8") as file:
    GIVEN = json.load(file)


def embed(texts):
    vectors = []
    for start in range(0, len(texts), BATCH):
        body = json.dumps({"input": list(texts[start : start + BATCH]), "model": "same"}).encode()
        url = GIVEN["embedder"] + "/embeddings"
        request = urllib.request.Request(url, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            vectors += [each["embedding"] for each in json.load(answer)["data"]]
    return vectors


class Fts5:
    def __init__(self, turns):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE turns USING fts5(id UNINDEXED, text, tokenize = 'porter unicode61')")
        self.db.executemany("INSERT INTO turns VALUES (?, ?)", [(turn["id"], turn["text"]) for turn in turns])

    def search(self, question, limit=LIMIT):
        words = re.findall(r"\w+", question)
        if not words:
            return []
        query = " OR ".join(f'"{word}"' for word in words)
        found = self.db.execute("SELECT id FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?", (query, limit))
        return [row[0] for row in found]


class Fts5AndVectors(Fts5):
    def __init__(self, turns):
        super().__init__(turns)
        import numpy

        self.numpy = numpy
        self.ids = [turn["id"] for turn in turns]
        self.vectors = self.units([turn["text"] for turn in turns])

    def units(self, texts):
        vectors = self.numpy.array(embed(texts))
        lengths = self.numpy.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / self.numpy.maximum(lengths, 1e-9)

    def search(self, question, limit=LIMIT):
        nearest = self.numpy.argsort(-(self.vectors @ self.units([question])[0]))[:DEPTH]
        scores = {}
        for ids in (super().search(question, DEPTH), [self.ids[at] for at in nearest]):
            for rank, name in enumerate(ids):
                scores[name] = scores.get(name, 0) + 1 / (K + rank + 1)
        return sorted(scores, key=scores.get, reverse=True)[:limit]


class LangGraph:
    def __init__(self, turns):
        from langgraph.store.memory import InMemoryStore

        dims = len(embed(["dimensions"])[0])
        self.store = InMemoryStore(index={"dims": dims, "embed": embed, "fields": ["text"]})
        for turn in turns:
            self.store.put(("turns",), turn["id"], {"text": turn["text"]})

    def search(self, question):
        return [item.key for item in self.store.search(("turns",), query=question, limit=LIMIT)]


class Chroma:
    def __init__(self, turns):
        import chromadb

        client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
        client.delete_collection("turns") if client.list_collections() else None
        settings = {"hnsw:space": "cosine"}
        self.turns = client.create_collection("turns", embedding_function=None, metadata=settings)
        texts = [turn["text"] for turn in turns]
        self.turns.add(ids=[turn["id"] for turn in turns], embeddings=embed(texts), documents=texts)

    def search(self, question):
        found = self.turns.query(query_embeddings=embed([question]), n_results=min(LIMIT, self.turns.count()))
        return found["ids"][0]


class Mem0:
    def __init__(self, turns):
        from mem0 import Memory

        folder = tempfile.mkdtemp()
        dims = len(embed(["dimensions"])[0])
        openai = {"api_key": "none", "openai_base_url": GIVEN["embedder"]}
        store = {"path": folder, "on_disk": False, "embedding_model_dims": dims, "collection_name": "turns"}
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {
                    "provider": "openai",
                    "config": {**openai, "model": "same", "embedding_dims": dims},
                },
                "llm": {"provider": "openai", "config": openai},
                "history_db_path": os.path.join(folder, "history.db"),
            }
        )
        for turn in turns:
            self.memory.add(turn["text"], user_id="one", metadata={"turn": turn["id"]}, infer=False)

    def search(self, question):
        found = self.memory.search(question, filters={"user_id": "one"}, top_k=LIMIT)
        return [each["metadata"]["turn"] for each in found["results"]]


SYSTEMS = {
    "SQLite FTS5, BM25": Fts5,
    "SQLite FTS5 and vectors by reciprocal rank": Fts5AndVectors,
    "LangGraph's store": LangGraph,
    "Chroma": Chroma,
    "mem0, without a model": Mem0,
}

for name, system in SYSTEMS.items():
    try:
        found = []
        for conversation in GIVEN["conversations"]:
            memory = system(conversation["turns"])
            found.append([memory.search(question) for question in conversation["questions"]])
        print(json.dumps({"system": name, "found": found}), flush=True)
    except Exception as error:
        traceback.print_exc()
        print(json.dumps({"system": name, "failed": f"{type(error).__name__}: {error}"[:300]}), flush=True)
