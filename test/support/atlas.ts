import type { SearchEntry } from "../../storage/search/entry.ts";
import type { VectorRow } from "../../storage/search/protocol.ts";
import { entry, query, vector } from "../suites/search/samples.ts";
import type { SearchIndex } from "../suites/search.ts";
import { settle } from "./settle.ts";

const MARKERS = "tn_markers";
let made = 0;

/** An Atlas index whose writes wait until they can be found: a marker that is written after them is found last. */
export function settling(index: SearchIndex): SearchIndex {
  async function words(): Promise<void> {
    const marker = entry({ text: `marker${++made}` });
    await index.put(MARKERS, [marker]);
    const asked = query(`marker${made}`, { tenant_id: MARKERS });
    await settle(async () => (await index.legs(asked)).candidates.length > 0, { within: 60_000 });
    await index.drop(MARKERS, "memory", [marker.id]);
  }

  async function vectors({ length }: Float32Array, model: string): Promise<void> {
    await index.put(MARKERS, [entry({ text: `marker${++made}` })]);
    const [missing] = await index.unembedded(1, 0, { tenant_id: MARKERS, kind: "memory" });
    const own = Float32Array.from(vector(1).slice(0, length));
    await index.setVectors(model, [{ ...missing, vector: own } as VectorRow]);
    const asked = query("", { tenant_id: MARKERS, vector: own });
    await settle(async () => (await index.legs(asked)).candidates.length > 0, { within: 60_000 });
    await index.dropTenant(MARKERS);
  }

  return {
    put: (tenant_id: string, entries: readonly SearchEntry[]) => index.put(tenant_id, entries).then(words),
    async setVectors(model: string, rows: VectorRow[]) {
      const set = await index.setVectors(model, rows);
      if (set > 0) await vectors((rows[0] as VectorRow).vector, model);
      return set;
    },
    drop: (...args: Parameters<SearchIndex["drop"]>) => index.drop(...args),
    dropTenant: (tenant_id: string) => index.dropTenant(tenant_id),
    legs: (asked: Parameters<SearchIndex["legs"]>[0]) => index.legs(asked),
    useModel: (name: string | null) => index.useModel(name),
    waiting: () => index.waiting(),
    unembedded: (...args: Parameters<SearchIndex["unembedded"]>) => index.unembedded(...args),
    nearDuplicates: (...args: Parameters<SearchIndex["nearDuplicates"]>) => index.nearDuplicates(...args),
    gap: (...args: Parameters<SearchIndex["gap"]>) => index.gap(...args),
    texts: (...args: Parameters<SearchIndex["texts"]>) => index.texts(...args),
  };
}
