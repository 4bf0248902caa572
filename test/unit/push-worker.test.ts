import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { PushSender } from "../../connectors/push-sender.ts";
import { Slots } from "../../services/push/slots.ts";
import { PushWorker, type WorkerParts } from "../../services/push/worker.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { settle } from "../support/settle.ts";

const NEW = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const OLD = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;

let broker: ServiceBroker;
let endpoint: Endpoint;
let secrets = [NEW, OLD];
let waiting = 0;
let now = 0;
const sender = new PushSender({ allowPrivate: true, timeoutMs: 5000 });

beforeAll(async () => {
  endpoint = await startEndpoint();
  broker = new ServiceBroker({ logger: false });
  broker.createService({ name: "agents", actions: { signing_secrets: () => secrets } });
  broker.createService({
    name: "deliveries",
    actions: {
      claim: () => ({ deliveries: waiting > 0 ? [{ id: `dlv_${waiting--}`, envelope: "{}" }] : [] }),
      settle: () => {},
    },
  });
  await broker.start();
});
afterAll(async () => {
  await broker.stop();
  sender.close();
  await endpoint.stop();
});

test("a secret that was replaced stops signing when its time is over, without another change of the agent", async () => {
  const parts: WorkerParts = {
    ...{ broker, sender, slots: new Slots(8), now: () => now },
    report: (err) => {
      throw err;
    },
    saveBreaker: async () => {},
  };
  const worker = new PushWorker({ tenant_id: "tn_a", agent_id: "ag_a", endpoint: endpoint.url }, null, parts);
  const signatures = async () => {
    const before = endpoint.pushed.length;
    waiting = 1;
    worker.nudge();
    const push = await settle(() => endpoint.pushed[before]);
    return push.headers["webhook-signature"]?.split(" ").length;
  };
  expect(await signatures()).toBe(2);
  secrets = [NEW];
  now += 86_400_000;
  expect(await signatures()).toBe(1);
  await worker.stop();
});
