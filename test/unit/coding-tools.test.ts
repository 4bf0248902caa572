import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { parseInput, TOOLS } from "../../packages/client/cli/hooks/input.ts";

const ROOT = join(import.meta.dirname, "../..");
const json = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
const { version } = json("packages/client/package.json");

test.each(TOOLS)("the hooks of %s call its own command, at events that do something", (tool) => {
  const [file = ""] = globSync(`packages/integrations/${tool}/{hooks.json,hooks/hooks.json}`, { cwd: ROOT });
  const { hooks } = json(file) as { hooks: Record<string, object[]> };
  const tasks = Object.keys(hooks).map((hook_event_name) => {
    const { task } = parseInput(JSON.stringify({ hook_event_name, session_id: "s" }), tool, () => "/");
    return task;
  });
  const ofTurns = tool === "cursor" ? [] : tool === "claude-code" ? ["turn", "end"] : ["turn"];
  expect(new Set(tasks)).toEqual(new Set(["start", "save", ...ofTurns]));
  expect(tasks).not.toContain(undefined);
  const commands = [...JSON.stringify(hooks).matchAll(/"command":"([^"]+)"/g)].map(([, command]) => command);
  expect(new Set(commands)).toEqual(new Set([`sensorium hook ${tool}`]));
});

test("Cursor's hooks have the form that it documents", () => {
  const entry = { command: "sensorium hook cursor", timeout: 10 };
  expect(json("packages/integrations/cursor/hooks.json")).toEqual({
    version: 1,
    hooks: { sessionStart: [entry], preCompact: [entry], stop: [entry], sessionEnd: [entry] },
  });
});

test("plugins have the version of the command line that they call", () => {
  const manifests = globSync("packages/integrations/*/{.*-plugin/plugin,gemini-extension}.json", {
    cwd: ROOT,
  });
  expect(manifests).toHaveLength(3);
  expect(manifests.filter((file) => json(file).version !== version)).toEqual([]);
});
