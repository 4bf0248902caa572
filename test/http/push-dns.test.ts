import { expect, test } from "@jest/globals";
import { pollSome, useGround } from "../support/deliveries.ts";
import { startNameServer } from "../support/dns.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { use } from "../support/use.ts";

const SILENT = 40;
const TYPE = "com.example.dns";

const names = use(await startNameServer(1));
const endpoint = use(await startEndpoint());
const ground = await useGround({ env: { PUSH_ALLOW_PRIVATE: "true", DNS_SERVERS: names.address } });

async function pushedTo(name: string, delivery_endpoint: string) {
  const agent = { delivery_mode: "push", delivery_endpoint, retry_budget: 1 };
  return newReceiver(ground.server, ground.admin, name, { interests: [TYPE], agent });
}

test("endpoints whose names nobody answers hold up no others, and lose no attempt", async () => {
  const { port } = new URL(endpoint.url);
  const silent = [];
  for (let i = 0; i < SILENT; i++)
    silent.push(await pushedTo(`silent ${i}`, `http://silent-${i}.example/hook`));
  await pushedTo("healthy", `http://here.example:${port}/hook`);
  await ground.publish(TYPE);
  await settle(() => endpoint.pushed.length === 1);
  // Most of the others are still being looked up, or wait for that.
  const metrics = await (await fetch(`${new URL(ground.server.url).origin}/metrics`)).text();
  expect(metrics).toMatch(/sensorium_resource_in_use\{resource="outgoing"\} [1-9]\d*$/m);
  await settle(() => new Set(names.asked.filter((name) => name.startsWith("silent"))).size === SILENT);
  await ground.publish(TYPE);
  await settle(() => endpoint.pushed.length === 2);
  expect(ok(await ground.admin.get("/delivery/dlq")).count).toBe(0);
  const first = silent[0] as (typeof silent)[number];
  const attempts = new Map<string, number>();
  await settle(async () => {
    for (const { id, attempt_count } of await pollSome(first.api)) attempts.set(id, attempt_count);
    return attempts.size === 2;
  });
  expect([...attempts.values()]).toEqual([1, 1]);
});
