import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Cli, newCli } from "../support/cli.ts";
import type { TestServer } from "../support/server.ts";
import { startShared } from "../support/shared.ts";

let server: TestServer;
let agent: Cli;
let person: Cli;

beforeAll(async () => {
  server = await startShared();
  const { agent: own, admin } = server.credentials;
  agent = newCli({ SENSORIUM_URL: server.root, SENSORIUM_API_KEY: own.api_key });
  person = newCli();
  const login = ["login", admin.email, "--password-stdin", "--url", server.root];
  expect((await person.run(login, { input: admin.password })).code).toBe(0);
});
afterAll(async () => {
  await agent?.remove();
  await person?.remove();
  await server?.stop();
});

const done = async (cli: Cli, words: string[], input?: string) => {
  const { code, out, err } = await cli.run(["approval", ...words], input === undefined ? {} : { input });
  expect([code, err]).toEqual([0, ""]);
  return out.trim();
};

test("an agent asks, a person answers, and both read the answer and its receipt", async () => {
  expect(await done(agent, ["list"])).toBe("No approvals.");
  const options = ["--choices", "north, south", "--evidence", "link:https://shop.example/", "--in", "2h"];
  const further = ["--on-deadline", "north", "--escalate-to", "admins", "--escalate-after", "1h"];
  const line = await done(agent, ["ask", "Which supplier?", "-", ...options, ...further], "The **quotes**.");
  const [id = ""] = line.split(" ");
  expect(line).toBe(`${id} open`);
  expect(await done(person, ["list", "--status", "open"])).toContain("Which supplier?");
  const shown = await done(person, ["show", id]);
  expect(shown).toMatch(/Choices\s+north, south\n/);
  expect(shown).toMatch(/Evidence\s+link:https:\/\/shop.example\/\n\nThe \*\*quotes\*\*\.$/);
  expect(await done(person, ["answer", id, "south", "It is cheaper."])).toBe(`${id} answered: south`);
  expect(await done(agent, ["show", id])).toMatch(/Text\s+It is cheaper\.\n/);
  const receipt = await done(agent, ["receipt", id]);
  expect(JSON.parse(await done(agent, ["receipt", id, "--json"]))).toMatchObject({ id });
  const [, claims = ""] = receipt.split(".");
  expect(JSON.parse(Buffer.from(claims, "base64url").toString()).approval).toMatchObject({
    ...{ id, choice: "south", text: "It is cheaper." },
  });
});

test("a question is canceled, and evidence without a kind is refused", async () => {
  const [id = ""] = (await done(agent, ["ask", "Go on?"])).split(" ");
  expect(await done(agent, ["cancel", id])).toBe(`${id} canceled`);
  const refused = await agent.run(["approval", "ask", "Go on?", "--evidence", "x"]);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("expected KIND:ID") });
});
