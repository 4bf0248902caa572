import { expect, test } from "@jest/globals";
import { holds, owns } from "../../services/remember/search/coverage.ts";

const nodes = Array.from({ length: 6 }, (_, i) => `sensorium-host-${1000 + i}`);
const tenants = Array.from({ length: 300 }, (_, i) => `tn_${i}`);
const among = (those: string[], is: typeof holds, tenant_id: string) =>
  those.filter((self) => is({ self, nodes: those }, tenant_id));

test("is held by two nodes, one of them the owner", () => {
  for (const tenant_id of tenants) {
    const holders = among(nodes, holds, tenant_id);
    expect(holders).toHaveLength(2);
    expect(holders).toEqual(expect.arrayContaining(among(nodes, owns, tenant_id)));
  }
});

test("is all of one or two nodes, and a third of six", () => {
  for (const few of [nodes.slice(0, 1), nodes.slice(0, 2)])
    expect(tenants.every((tenant_id) => among(few, holds, tenant_id).length === few.length)).toBe(true);
  const own = tenants.filter((tenant_id) => holds({ self: nodes[0] as string, nodes }, tenant_id));
  expect(own.length).toBeGreaterThan(80);
  expect(own.length).toBeLessThan(120);
});

test("goes to the node that holds it already when its owner leaves", () => {
  for (const tenant_id of tenants) {
    const [owner] = among(nodes, owns, tenant_id);
    const left = nodes.filter((node) => node !== owner);
    expect(among(nodes, holds, tenant_id)).toEqual(expect.arrayContaining(among(left, owns, tenant_id)));
  }
});
