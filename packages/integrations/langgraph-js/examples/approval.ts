/**
 * A graph that waits for a person, and goes on in another process: `approval.ts THREAD` asks, `approval.ts THREAD yes`
 * answers.
 */
import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { SensoriumSaver } from "langgraph-sensorium";
import { createClient } from "sensorium";

const [thread_id = "order-1", answer] = process.argv.slice(2);
const client = createClient();

const graph = new StateGraph(Annotation.Root({ order: Annotation<string>, approved: Annotation<boolean> }))
  .addNode("ask", ({ order }) => ({ approved: interrupt(`Send ${order}?`) === "yes" }))
  .addNode("send", ({ order, approved }) => ({ order: approved ? `${order}, sent` : `${order}, kept` }))
  .addEdge(START, "ask")
  .addEdge("ask", "send")
  .addEdge("send", END)
  .compile({ checkpointer: new SensoriumSaver(client) });

const config = { configurable: { thread_id } };
const { order } =
  answer === undefined
    ? await graph.invoke({ order: "12 chairs" }, config)
    : await graph.invoke(new Command({ resume: answer }), config);
const { tasks } = await graph.getState(config);
console.log(tasks[0]?.interrupts[0]?.value ?? order);
