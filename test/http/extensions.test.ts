import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { blocksOf, page } from "../support/guides.ts";
import { api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const folder = await ownFolder();
mkdirSync(join(folder, "greeter"));
writeFileSync(join(folder, "greeter/extension.ts"), blocksOf(page("docs/extensions.md"), "ts").join(""));

const env = {
  ...{ OPERATOR_TOKEN, EXTENSIONS: "greeter", EXTENSIONS_DIR: folder, GREETING: "Servus" },
  EMBEDDER: "none",
};
const server = await useServer({ env });
const world = await makeWorld(server, "extended");
const greet = (name: string) => world.agent.post("/greetings", { name });

describe("the extension of docs/extensions.md", () => {
  test("runs with its settings, contract and collection", async () => {
    expect(ok(await greet("Ann"))).toEqual({ greeting: "Servus, Ann", count: 1 });
    expect(ok(await greet("Ann"))).toEqual({ greeting: "Servus, Ann", count: 2 });
    const other = await makeWorld(server, "other");
    expect(ok(await other.agent.post("/greetings", { name: "Ann" })).count).toBe(1);
    expect((await greet("")).body.error).toMatchObject({ code: "validation_failed" });
    expect((await api(server).post("/greetings", { name: "Ann" })).status).toBe(401);
    const token = await world.tokenWith(["receive"]);
    expect((await api(server, token).post("/greetings", { name: "Ann" })).status).toBe(403);
  });

  test("is erased like the core's collections", async () => {
    ok(await greet("Berta"));
    const { erased } = ok(await world.admin.post("/memories/erase", { subject: "Berta" }));
    expect(erased).toMatchObject({ greetings: 1 });
    expect(ok(await greet("Berta")).count).toBe(1);
  });

  test("is in the documents, and what does not run is nowhere", async () => {
    const { paths } = ok(await api(server).get(`${server.root}/openapi.json`));
    expect(Object.keys(paths)).toContain("/v1/greetings");
    expect(Object.keys(paths).filter((path) => path.includes("a2a"))).toEqual([]);
    expect(ok(await world.agent.get("/limits")).extensions).toEqual(["greeter"]);
    for (const path of [
      `${server.root}/a2a/${world.agentId}`,
      "/a2a-tasks/0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f/status",
    ])
      expect((await world.agent.post(path, {})).body.error).toMatchObject({ code: "not_found" });
    expect(ok(await api(server).get(`${server.root}/llms.txt`))).not.toContain("Agent2Agent");
    // With the agent, without the extension that declares an eraser of it.
    ok(await world.admin.post("/memories/erase", { agent_id: world.agentId }));
  });
});
