import { afterAll, expect, test } from "@jest/globals";
import { newCli } from "../support/cli.ts";
import { deliveryGround } from "../support/deliveries.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const ground = await deliveryGround({ env: { STUCK_AFTER_SECONDS: "1" } });
const { url, credentials } = ground.server;
const cli = newCli({ SENSORIUM_URL: url, SENSORIUM_API_KEY: credentials.agent.api_key });
afterAll(() => cli.remove());
afterAll(() => ground.server.stop());

const list = async (...options: string[]) =>
  (await cli.done("agent", "list", "--attention", ...options)).split("\n");

const stuckAgents = (count: number) =>
  settle(async () => {
    const { agents } = ok(await ground.admin.get("/agents?needs_attention=true&include=delivery"));
    return (
      agents.filter((each: { delivery: { state: string } }) => each.delivery.state === "stuck").length ===
      count
    );
  });

test("many agents with the same reason are one line, unless each is wanted", async () => {
  const receivers = [];
  for (const name of ["north", "east", "south"])
    receivers.push(await newReceiver(ground.server, ground.admin, name, { interests: ["com.idle"] }));
  await ground.publish("com.idle");
  await stuckAgents(3);
  expect(await list()).toHaveLength(1 + 3);

  receivers.push(await newReceiver(ground.server, ground.admin, "west", { interests: ["com.idle"] }));
  await ground.publish("com.idle");
  await stuckAgents(4);
  const [header, line, ...others] = await list();
  expect(header).toMatch(/^ID +STATE +PENDING +OLDEST +DEAD +NAME/);
  expect(line).toMatch(/^4 agents +stuck +7 +\d+ s +0 +have not been seen for \d+ s \(--each lists them\)/);
  expect(others).toEqual([]);
  const each = (await list("--each")).slice(1).join("\n");
  for (const { id } of receivers) expect(each).toContain(id);
  const json = JSON.parse((await list("--json")).join(""));
  expect(json.map(({ id }: { id: string }) => id).sort()).toEqual(receivers.map(({ id }) => id).sort());
});
