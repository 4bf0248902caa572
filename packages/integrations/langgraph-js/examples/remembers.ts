/** A graph that remembers what a person likes, in one run, and knows it in the next. */
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { SensoriumStore } from "langgraph-sensorium";
import { createClient } from "sensorium";

const client = createClient();

const State = Annotation.Root({ said: Annotation<string>, known: Annotation<string[]> });
type Values = typeof State.State;

async function remember({ said }: Values, { store }: LangGraphRunnableConfig) {
  if (said) await store?.put(["people", "ada"], said, { text: said });
  return {};
}

async function recall(_: Values, { store }: LangGraphRunnableConfig) {
  const found = (await store?.search(["people", "ada"], { query: "What does Ada drink?", limit: 3 })) ?? [];
  return { known: found.map(({ value }) => value.text) };
}

const graph = new StateGraph(State)
  .addNode("remember", remember)
  .addNode("recall", recall)
  .addEdge(START, "remember")
  .addEdge("remember", "recall")
  .addEdge("recall", END)
  .compile({ store: new SensoriumStore(client) });

await graph.invoke({ said: "Ada drinks green tea in the morning" });
console.log((await graph.invoke({})).known);
