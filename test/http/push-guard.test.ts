import { afterAll, expect, test } from "@jest/globals";
import { deliveryGround, useGround } from "../support/deliveries.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

// An endpoint that was allowed earlier is stored: the check at connection time must refuse it.
const ground = await useGround({ env: { PUSH_ALLOW_PRIVATE: "true" } });
const endpoint = await startEndpoint();
afterAll(() => endpoint.stop());

test("a private endpoint is refused when it is named, and again when it is connected to", async () => {
  const { port } = new URL(endpoint.url);
  const urls = [endpoint.url, `http://localhost:${port}/hook`, `http://2130706433:${port}/hook`];
  const receivers = await Promise.all(
    urls.map((delivery_endpoint, i) =>
      newReceiver(ground.server, ground.admin, `r${i}`, {
        interests: ["com.example.guard"],
        agent: { delivery_mode: "push", delivery_endpoint, retry_budget: 1 },
      }),
    ),
  );
  await ground.publish("com.example.guard");
  await settle(() => endpoint.pushed.length === 3);
  // Pushes that were not recorded as acknowledged before the kill would be repeated.
  for (const { api } of receivers)
    await settle(async () => ok(await api.get("/delivery/stats")).pending === 0);

  const { dataDir } = ground.server;
  await ground.server.kill();
  const strict = await deliveryGround({ dataDir });
  try {
    const refused = await strict.admin.patch(`/agents/${receivers[0]?.id}`, {
      delivery_endpoint: endpoint.url,
    });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        error: {
          message: expect.stringMatching(
            /is not a public address; .* unless the operator sets PUSH_ALLOW_PRIVATE\.$/,
          ),
          details: { field: "delivery_endpoint" },
        },
      },
    });
    await strict.publish("com.example.guard");
    const { items } = await settle(async () => {
      const dlq = ok(await strict.admin.get("/delivery/dlq"));
      return dlq.count === 3 && dlq;
    });
    for (const { dlq_reason } of items) expect(dlq_reason).toMatch(/\(1\): .*is not a public address/);
    expect(endpoint.pushed).toHaveLength(3);
  } finally {
    await strict.server.stop();
  }
});
