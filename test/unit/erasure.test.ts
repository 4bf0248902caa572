import { describe, expect, test } from "@jest/globals";
import { RecentErasures, toIsErased } from "../../services/edge/idempotency/erase-answers.ts";
import type { KeptAnswer } from "../../services/edge/idempotency/idempotency.model.ts";
import { backupsUntil } from "../../services/platform/system/scrub.ts";
import { Scrubber, ScrubTimeout } from "../../storage/scrubber.ts";
import { ErasedIds } from "../../storage/search/erased-ids.ts";
import { entry } from "../suites/search/samples.ts";

const A = "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f";
const B = "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e60";

describe("ids that were erased from search", () => {
  test("are not taken for a quarter of an hour, of their tenant and kind", () => {
    let now = 0;
    const erased = new ErasedIds(() => now);
    const [a, b] = [entry({ id: A, kind: "memory" }), entry({ id: B, kind: "memory" })];
    expect(erased.without("tn_1", [a, b])).toEqual([a, b]);
    erased.add("tn_1", "memory", [A]);
    expect(erased.without("tn_1", [a, b])).toEqual([b]);
    expect(erased.without("tn_2", [a])).toEqual([a]);
    expect(erased.without("tn_1", [{ ...a, kind: "chunk" }])).toHaveLength(1);
    now = 15 * 60_000 + 1;
    erased.add("tn_1", "memory", [B]);
    expect(erased.without("tn_1", [a, b])).toEqual([a]);
    erased.addTenant("tn_1");
    expect(erased.without("tn_1", [a])).toEqual([]);
  });

  test("of an output return with its next version", () => {
    const erased = new ErasedIds();
    erased.add("tn_1", "output", [A]);
    const again = entry({ id: A, kind: "output" });
    expect(erased.without("tn_1", [again])).toEqual([again]);
  });
});

describe("answers after an erasure", () => {
  const answer = (more: Partial<KeptAnswer>): [KeptAnswer, string] => {
    const whole = { status: 200, type: "application/json", body: null, base64: false, headers: {}, ...more };
    return [whole, JSON.stringify(whole)];
  };

  test("name a person as whole words, in text, JSON or base64; or were given to the agent", () => {
    const isErased = toIsErased({ subject: 'Zoë "Z" Quist' });
    const given = (more: Partial<KeptAnswer>) => isErased("ag_x", answer(more)[1]);
    const metadata = { metadata: { subject: ["other", 'Zoë "Z" Quist'] } };
    expect(given({ body: JSON.stringify(metadata) })).toBe(true);
    expect(given({ body: 'About Zoe\u0308 "Z" Quist.' })).toBe(true);
    expect(given({ body: Buffer.from('Zoë "Z" Quist').toString("base64"), base64: true })).toBe(true);
    expect(given({ body: '"Zoë "Z" Quistgaard"' })).toBe(false);
    expect(given({ body: null })).toBe(false);
    expect(toIsErased({ caller_id: "ag_x" })("ag_x", answer({})[1])).toBe(true);
    expect(toIsErased({ caller_id: "ag_x" })("ag_y", answer({})[1])).toBe(false);
  });

  test("are not kept when they name what was erased, or are in a blob", () => {
    let now = 0;
    const erased = new RecentErasures(() => now);
    const naming = answer({ body: JSON.stringify({ id: A }) });
    expect(erased.mayBeIn("tn_1", "ag_x", ...naming)).toBe(false);
    erased.add("tn_1", { ids: [A] });
    erased.add("tn_1", { ids: [B] });
    expect(erased.mayBeIn("tn_1", "ag_x", ...naming)).toBe(true);
    expect(erased.mayBeIn("tn_1", "ag_x", ...answer({ blob: "of this hash" }))).toBe(true);
    expect(erased.mayBeIn("tn_1", "ag_x", ...answer({ body: "{}" }))).toBe(false);
    expect(erased.mayBeIn("tn_2", "ag_x", ...naming)).toBe(false);
    now = 15 * 60_000 + 1;
    expect(erased.mayBeIn("tn_1", "ag_x", ...naming)).toBe(false);
  });
});

describe("scrubbing", () => {
  /** Lets the test decide when each rewriting ends. */
  function file() {
    const begun: (() => void)[] = [];
    const rewrite = () => new Promise<boolean>((resolve) => begun.push(() => resolve(true)));
    return { begun, rewrite };
  }

  test("is shared by those who wait, but not with a pass that has begun", async () => {
    const { begun, rewrite } = file();
    const scrubber = new Scrubber({ rewrite, emptyLog: async () => true }, 1);
    const first = scrubber.scrub();
    await Promise.resolve();
    await Promise.resolve();
    expect(begun).toHaveLength(1);
    const [second, third] = [scrubber.scrub(), scrubber.scrub()];
    expect(third).toBe(second);
    expect(second).not.toBe(first);
    begun[0]?.();
    expect(await first).toBe("rewritten");
    while (begun.length < 2) await new Promise(setImmediate);
    begun[1]?.();
    expect(await third).toBe("rewritten");
    expect(begun).toHaveLength(2);
  });

  test("waits for readers of the log, and goes on after a failure", async () => {
    const logs = [false, false, true];
    let failing = true;
    const rewrite = async () => {
      if (failing) throw new Error("the disk is full");
      return false;
    };
    const scrubber = new Scrubber({ rewrite, emptyLog: async () => logs.shift() ?? true }, 0);
    await expect(scrubber.scrub()).rejects.toThrow("the disk is full");
    failing = false;
    expect(await scrubber.scrub()).toBe("overwritten");
    expect(logs).toEqual([]);
  });

  test("has an error that keeps its name between nodes", () =>
    expect(new ScrubTimeout().name).toBe("ScrubTimeout"));
});

test("mentions backups only if their retention is configured", () => {
  const at = new Date("2026-01-01T00:00:00.000Z");
  expect(backupsUntil(at, { BACKUP_RETENTION_DAYS: 0 })).toBeNull();
  expect(backupsUntil(at, { BACKUP_RETENTION_DAYS: 30 })).toBe("2026-01-31T00:00:00.000Z");
});
