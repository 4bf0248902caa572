import { expect, test } from "@jest/globals";
import { PromptDiscoverer } from "../../lib/broker/prompt-discoverer.ts";

/** A discoverer that knows one other node, last heard now, and what it takes for lost. */
function discoverer() {
  const lost: string[] = [];
  const other = {
    id: "other",
    local: false,
    available: true,
    lastHeartbeatTime: Math.round(process.uptime()),
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
