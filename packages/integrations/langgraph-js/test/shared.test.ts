/** @needs pypi, frameworks */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { newClient } from "../../../../test/support/integrations.ts";
import { pythonOfTests, runPython } from "../../../../test/support/python.ts";
import { useShared } from "../../../../test/support/use.ts";
import { SensoriumStore } from "../src/index.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const PYTHONPATH = ["packages/python/src", "packages/integrations/langgraph-python/src"]
  .map((folder) => join(ROOT, folder))
  .join(":");
const PROGRAM = `
import json
from langgraph_sensorium import SensoriumStore
store = SensoriumStore()
item = store.get(("people", "a/b 50% ü"), "drink")
store.put(("people", "from/python"), "drink", {"text": "coffee", "heard": item.value["text"]})
print(json.dumps([list(namespace) for namespace in store.list_namespaces()]))
`;

const server = await useShared("local");
const agent = await newClient(server);

test("graphs in JavaScript and in Python share the items of an agent", async () => {
  const store = new SensoriumStore(agent.client);
  await store.put(["people", "a/b 50% ü"], "drink", { text: "green tea" });
  const env = {
    PYTHONPATH,
    PYTHONDONTWRITEBYTECODE: "1",
    SENSORIUM_URL: agent.url,
    SENSORIUM_API_KEY: agent.apiKey,
  };
  const { code, output } = await runPython(pythonOfTests(), ["-c", PROGRAM], { env });
  const namespaces = await store.listNamespaces();
  expect({ code, namespaces: code === 0 ? JSON.parse(output) : output }).toEqual({ code: 0, namespaces });
  expect(namespaces).toEqual([
    ["people", "a/b 50% ü"],
    ["people", "from/python"],
  ]);
  const item = await store.get(["people", "from/python"], "drink");
  expect(item?.value).toEqual({ text: "coffee", heard: "green tea" });
});
