import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { PushSender, signingKeys } from "../../connectors/push-sender.ts";
import { FairQueue } from "../../lib/queue/fair-queue.ts";
import { newHostResolver } from "../../services/host-resolver.ts";
import { PushWorker, type WorkerDeps } from "../../services/sense/push/push-worker.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { settle } from "../support/settle.ts";

const NEW = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const OLD = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;

let broker: ServiceBroker;
let endpoint: Endpoint;
let secrets = [NEW, OLD];
let waiting = 0;
let now = 0;
let stopped = 0;
const sender = new PushSender({ resolver: newHostResolver([]), allowPrivate: true, timeoutMs: 5000 });

beforeAll(async () => {
  endpoint = await startEndpoint();
  broker = new ServiceBroker({ logger: false });
  broker.createService({
    name: "agents",
    actions: {
      signing_secrets: () => secrets,
      stop_push: () => {
        stopped++;
      },
    },
  });
  broker.createService({
    name: "deliveries",
    actions: {
      claim: () => ({ deliveries: waiting > 0 ? [{ id: `dlv_${waiting--}`, envelope: "{}" }] : [] }),
      settle: () => {},
      release: () => {},
    },
  });
  await broker.start();
});
afterAll(async () => {
  await broker.stop();
  await sender.close();
  await endpoint.stop();
});

function newWorker(): PushWorker {
  const deps: WorkerDeps = {
    ...{ broker, sender, attempts: new FairQueue({ capacity: 8, maxWaiting: 100 }), now: () => now },
    report: (err) => {
      throw err;
    },
    saveBreaker: async () => {},
  };
  return new PushWorker(
    { tenant_id: "tn_a", agent_id: "ag_a", endpoint: endpoint.url, format: "structured" } as const,
    null,
    deps,
  );
}

/** Gives an agent's worker something to push. */
async function push(worker: PushWorker) {
  const before = endpoint.pushed.length;
  waiting = 1;
  worker.nudge();
  return settle(() => endpoint.pushed[before]);
}

test("a replaced secret stops signing when its time is over", async () => {
  const worker = newWorker();
  const signatures = async () => (await push(worker)).headers["webhook-signature"]?.split(" ").length;
  expect(await signatures()).toBe(2);
  secrets = [NEW];
  now += 86_400_000;
  expect(await signatures()).toBe(1);
  await worker.stop();
});

test("410 pauses until the agent is changed and still uses push", async () => {
  const worker = newWorker();
  endpoint.answer(410);
  await push(worker);
  await settle(() => stopped === 1);
  endpoint.answer(200);
  now += 365 * 86_400_000;
  const before = endpoint.pushed.length;
  waiting = 1;
  worker.nudge();
  await new Promise((resolve) => setImmediate(resolve));
  expect([endpoint.pushed.length, waiting]).toEqual([before, 1]);
  worker.changed();
  await settle(() => endpoint.pushed.length === before + 1);
  await worker.stop();
});

test("an endpoint that would switch protocols has failed", async () => {
  const switching = createServer((socket) => {
    socket.once("data", () =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
    );
  });
  await new Promise<void>((resolve) => switching.listen(0, "127.0.0.1", resolve));
  const { port } = switching.address() as AddressInfo;
  const share = { tenant_id: "tn_a", caller: "ag_a" };
  const push = {
    share,
    url: `http://127.0.0.1:${port}/`,
    id: "dlv_1",
    envelope: "{}",
    keys: signingKeys([NEW]),
  };
  expect(await sender.send(push)).toEqual({ kind: "failed", reason: "bad upgrade" });
  await new Promise((resolve) => switching.close(resolve));
});
