import { expect, test } from "@jest/globals";
import type { Call } from "../../lib/access/caller.ts";
import type { MergeDoc } from "../../services/remember/merges/merges.model.ts";
import { listProposals } from "../../services/remember/merges/merges.service.ts";
import type { TenantCollection } from "../../storage/collection.ts";

type Page = { skip: number; limit: number };

/** Creates `count` proposals; a member may read every tenth. Counts the requests to the store and to other services. */
function ground(count: number) {
  const asked = { rows: 0, ids: 0 };
  const idsOf = (n: number) => [`${n} a`, `${n} b`];
  const proposals = {
    find: async (_tenant: string, _filter: object, { skip, limit }: Page) => {
      const rows = Array.from({ length: Math.max(0, Math.min(limit, count - skip)) }, (_, i) => {
        const [memory_a_id, memory_b_id] = idsOf(skip + i);
        return { _id: String(skip + i), memory_a_id, memory_b_id };
      });
      asked.rows += rows.length;
      return rows;
    },
    count: async () => count,
  } as unknown as TenantCollection<MergeDoc>;
  const list = (role: "member" | "admin", params: object) => {
    const call = async (_action: string, { ids }: { ids: string[] }) => {
      asked.ids += ids.length;
      return ids.filter((id) => Number.parseInt(id, 10) % 10 === 0).map((id) => ({ id }));
    };
    const caller = { kind: "user", role, tenant_id: "tn_1", user_id: "usr_1" };
    return listProposals(proposals, { params, meta: { caller }, call } as unknown as Call<object>);
  };
  return { asked, list };
}

test("a member's page is of the proposals whose memories both may be read, in order", async () => {
  const { list } = ground(1_234);
  const { rows, total } = await list("member", { offset: 10, limit: 3 });
  expect(rows.map(({ _id }) => _id)).toEqual(["100", "110", "120"]);
  expect(total).toBe(124);
});

test("a member's request looks at the latest 10,000 proposals at most", async () => {
  const { asked, list } = ground(1_000_000);
  expect((await list("member", {})).total).toBe(1_000);
  expect(asked).toEqual({ rows: 10_000, ids: 20_000 });
  const { rows, total } = await list("admin", { limit: 5 });
  expect([rows.length, total]).toEqual([5, 1_000_000]);
  expect(asked).toEqual({ rows: 10_005, ids: 20_000 });
});
