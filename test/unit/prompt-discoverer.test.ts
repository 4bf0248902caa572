import { expect, test } from "@jest/globals";
import { PromptDiscoverer } from "../../lib/broker/prompt-discoverer.ts";

/** A discoverer that knows one other node, last heard now, and what it takes for lost. */
function discoverer() {
  const lost: string[] = [];
  const other = {
    ...{ id: "other", local: false, available: true, lastHeartbeatTime: Math.round(process.uptime()) },
  };
  const nodes = { toArray: () => [other], disconnected: (id: string) => void lost.push(id) };
  const each = new PromptDiscoverer({ heartbeatTimeout: 3 } as never);
  Object.assign(each, { registry: { nodes }, logger: { warn: () => {} }, opts: { heartbeatTimeout: 3 } });
  return { each, other, lost };
}

test("a node that is silent while this one looks is lost", () => {
  const { each, other, lost } = discoverer();
  each.checkRemoteNodes();
  other.lastHeartbeatTime = process.uptime() - 10;
  each.checkRemoteNodes();
  expect(lost).toEqual(["other"]);
});

test("time for which this node stalled is not the other's silence", () => {
  const { each, other, lost } = discoverer();
  const real = performance.now;
  try {
    const at = real.call(performance);
    performance.now = () => at;
    each.checkRemoteNodes();
    other.lastHeartbeatTime = process.uptime() - 10;
    performance.now = () => at + 10_250;
    each.checkRemoteNodes();
  } finally {
    performance.now = real;
  }
  expect(lost).toEqual([]);
});

/** A discoverer that knows one other node, how often calls to it were given up, and how often the services were told. */
function counting() {
  const { each, other } = discoverer();
  const given = { up: 0, told: 0 };
  const broadcastLocal = async (name: string) => {
    if (name === "$node.messages_lost") given.told++;
  };
  const registry = { processNodeInfo: () => Object.assign(other, { available: true }) };
  const { nodes } = (each as unknown as { registry: { nodes: object } }).registry;
  Object.assign(other, { instanceID: "first", heartbeat: () => {} });
  Object.assign(each, {
    registry: { ...registry, broker: { registry }, nodes: { ...nodes, get: () => other } },
    broker: { registry, broadcastLocal },
    transit: { removePendingRequestByNodeID: () => void given.up++, discoverNode: () => {} },
  });
  const beat = (number?: number) =>
    each.heartbeatReceived("other", number === undefined ? {} : { beat: number });
  const info = (instanceID: string) => each.processRemoteNodeInfo("other", { instanceID });
  return { given, other, beat, info };
}

test("calls to a node whose messages were lost are given up, once for each gap", () => {
  const { given, beat } = counting();
  for (const number of [7, 8, 9]) beat(number);
  expect(given.up).toBe(0);
  beat(12);
  expect(given).toEqual({ up: 1, told: 1 });
  beat(13);
  expect(given).toEqual({ up: 1, told: 1 });
});

test("calls to a node that was restarted under its name are given up; its heartbeats begin again", () => {
  const { given, beat, info } = counting();
  beat(7);
  info("first");
  beat(8);
  expect(given.up).toBe(0);
  info("second");
  beat(1);
  expect(given.up).toBe(1);
});

test("what a node that comes back had missed, and heartbeats without a number, give up nothing more", () => {
  const { given, other, beat, info } = counting();
  beat(7);
  other.available = false;
  beat(19);
  info("first");
  beat(20);
  beat();
  beat(21);
  expect(given.up).toBe(0);
});
