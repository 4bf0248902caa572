import { expect, test } from "@jest/globals";
import { type Answer, agentToken, api } from "../support/http.ts";
import { inCluster, startServer } from "../support/server.ts";

// Among several nodes nobody knows that a lease's holder died: each round takes the half minute of a lease.
const ROUNDS = inCluster() ? 1 : 3;
const AGENTS = 30;

test("a crash between an effect and its answer neither loses nor repeats the effect", async () => {
  await using server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" } });

  for (let round = 0; round < ROUNDS; round++) {
    const names = Array.from({ length: AGENTS }, (_, n) => `agent ${round}.${n}`);
    const token = await agentToken(server, server.credentials.agent.api_key);
    const make = (name: string) =>
      api(server, token).post("/agents", { name, delivery_mode: "poll" }, { "idempotency-key": name });
    const answered = new Map<string, Answer>();
    const enough = AGENTS * ((round + 1) / (ROUNDS + 1));
    await new Promise<void>((resolve) => {
      for (const name of names) {
        make(name).then(
          (answer) => answered.set(name, answer).size >= enough && resolve(),
          () => {},
        );
      }
    });
    await server.kill();
    await server.restart();
    const again = await Promise.all(names.map(async (name) => [name, await make(name)] as const));
    expect(again.filter(([, { status }]) => status !== 201)).toEqual([]);
    for (const [name, { body }] of again) {
      const before = answered.get(name);
      if (before) expect(body).toEqual(before.body);
    }
    const { body } = await api(server, token).get("/agents?limit=200");
    const made = body.agents
      .map((agent: { name: string }) => agent.name)
      .filter((name: string) => names.includes(name));
    expect(made.sort()).toEqual(names.sort());
  }
});
