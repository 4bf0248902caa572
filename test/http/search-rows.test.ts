/** Index and rows that differ: a search returns results that both let the caller read. */
import { describe, expect, test } from "@jest/globals";
import { DocumentModel } from "../../services/remember/documents/documents.model.ts";
import { MemoryModel } from "../../services/remember/memories/memories.model.ts";
import { OutputModel } from "../../services/work/outputs/outputs.model.ts";
import { ingest, textFile } from "../support/documents.ts";
import type { Api } from "../support/http.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { makeCast, remember } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

/** Each makes one for its caller's team, with a word, and gives its id. */
const KINDS = {
  memories: async (by: Api, word: string): Promise<string> =>
    (await remember(by, { scope: "team", content: `A ${word}.` })).id,
  documents: async (by: Api, word: string): Promise<string> =>
    (await ingest(by, textFile(`A ${word}.`, { sensitivity: "confidential" }))).document_id,
  outputs: async (by: Api, word: string): Promise<string> =>
    ok(await by.post("/outputs", { title: word, body: `A ${word}.`, scope: "team" })).id,
};
type Kind = keyof typeof KINDS;
type Result = Partial<Record<"memory" | "output", { id: string }>> & { document?: { document_id: string } };

/** Of team A by its rows, of team B by the index; and the other way round. */
const stillFound = new Map<Kind, string>();
const stillHidden = new Map<Kind, string>();

async function find(by: Api, kind: Kind): Promise<string[]> {
  const { results } = ok(await by.post(`/${kind}/search`, { query: "numbat" }));
  return results.map(
    ({ memory, output, document }: Result) => (memory ?? output)?.id ?? document?.document_id,
  );
}

const server = await useServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const cast = await makeCast(server);
const { alice, bob, carol, teamA, teamB } = cast;
for (const [kind, make] of Object.entries(KINDS) as [Kind, (typeof KINDS)[Kind]][]) {
  stillFound.set(kind, await make(alice, "numbat"));
  stillHidden.set(kind, await make(carol, "numbat"));
  await settle(async () => (await find(bob, kind)).join() === stillFound.get(kind), { what: kind });
  await settle(async () => (await find(carol, kind)).join() === stillHidden.get(kind), { what: kind });
}
const models = { memories: MemoryModel, documents: DocumentModel, outputs: OutputModel };
await meanwhile(server, async (store) => {
  for (const [kind, model] of Object.entries(models)) {
    const rows = store.collection(model as typeof MemoryModel);
    const move = (ids: Map<Kind, string>, team_id: string) =>
      rows.update(
        server.credentials.tenant_id,
        { _id: ids.get(kind as Kind) as string },
        { $set: { team_id } },
      );
    await move(stillFound, teamB);
    await move(stillHidden, teamA);
  }
});

describe.each(Object.keys(KINDS) as Kind[])("a search of %s", (kind) => {
  test("gives none that the index finds for a team that the row is no longer of", async () => {
    expect(await find(cast.bob, kind)).not.toContain(stillFound.get(kind));
    expect(await find(cast.alice, kind)).toContain(stillFound.get(kind));
  });

  test("finds none of another team, even if the row would be given", async () => {
    expect(await find(cast.bob, kind)).not.toContain(stillHidden.get(kind));
    expect(await find(cast.carol, kind)).toContain(stillHidden.get(kind));
  });
});
