/** @needs nats: circuit breakers, as the nodes have them, leave out a node that does not answer, and none that waits. */
import { afterAll, expect, test } from "@jest/globals";
import { type Context, ServiceBroker } from "moleculer";
import { betweenNodes, moleculerMiddlewares } from "../lib/broker/between-nodes.ts";
import { startNats } from "./support/nats.ts";
import { settle } from "./support/settle.ts";

const CALLS = 20;
interface Asked {
  /** Action that it waits for. */
  of?: string;
}

const never = () => new Promise<never>(() => {});

const brokers: ServiceBroker[] = [];

async function start(
  nodeID: string,
  services: Record<string, Record<string, (ctx: Context<Asked>) => unknown>> = {},
) {
  const broker = new ServiceBroker({
    ...{ nodeID, namespace: "breakers", logger: false, middlewares: moleculerMiddlewares() },
    transporter: { type: "NATS", options: { url: nats.url } },
    ...betweenNodes(100, true),
  });
  brokers.push(broker);
  for (const [name, actions] of Object.entries(services)) broker.createService({ name, actions });
  await broker.start();
  return broker;
}

/** How each of as many calls at once ended. */
async function outcomes(action: string, params: Asked, timeout: number): Promise<string[]> {
  const calls = Array.from({ length: CALLS }, () =>
    caller.call<string, object>(action, params, { timeout }).catch(({ name }: Error) => name),
  );
  return Promise.all(calls);
}

const nats = await startNats();
await start("answers", {
  ears: { hear: () => "heard" },
  work: { wait: (ctx) => (ctx.params.of ? ctx.call(ctx.params.of, {}, { timeout: 100 }) : "done") },
});
await start("silent", { ears: { hear: never }, hole: { fall: never } });
const caller = await start("caller");
const all = ({ registry }: ServiceBroker) => registry.getNodeList({ onlyAvailable: true }).length === 3;
await settle(() => brokers.every(all));
await Promise.all(brokers.map((broker) => broker.waitForServices(["ears", "work", "hole"])));

afterAll(async () => {
  await Promise.all(brokers.map((broker) => broker.stop()));
  await nats?.stop();
});

test("a node that does not answer is left out", () =>
  settle(async () => (await outcomes("ears.hear", {}, 100)).every((outcome) => outcome === "heard")));

test("a node that waits for another one in vain goes on to be called", async () => {
  for (let i = 0; i < 2; i++) await outcomes("work.wait", { of: "hole.fall" }, 60_000);
  expect(await outcomes("work.wait", {}, 60_000)).toEqual(Array(CALLS).fill("done"));
});
