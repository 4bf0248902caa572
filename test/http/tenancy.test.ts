import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Operation } from "../../lib/contract/contract.ts";
import { callerOf, guarded, holdings, idsOf, ask as send } from "../support/holdings.ts";
import { identifierKind, sampleBody } from "../support/sample.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("local");
const mine = await makeWorld(server, "mine");
const theirs = await makeWorld(server, "theirs");

const named = (ops: readonly Operation[]) => ops.map((op) => [`${op.method} ${op.url}`, op] as const);
// A PUT creates missing resources in the caller's tenant, whatever the name refers to elsewhere.
const withNames = guarded.filter(
  (op) => op.path && Object.keys(op.path).length > 0 && op.access.by !== "operator" && op.method !== "PUT",
);
/** Every caller has its own namespaces, so a name of one never refers to another caller's. */
const isOfNamespace = ({ path = {} }: Operation) =>
  Object.values(path).every((schema) => identifierKind(schema)?.endsWith("_namespace"));
const withPath = withNames.filter((op) => !isOfNamespace(op));

const MALFORMED = "§";

/** Free-form names are never malformed: unknown ones are not found. */
function hasForm({ params }: Operation, name: string): boolean {
  const { pattern, format } = params.properties[name] as { pattern?: string; format?: string };
  return format !== undefined || (pattern !== undefined && !new RegExp(pattern).test(MALFORMED));
}

describe("another tenant's ids", () => {
  const references = guarded.flatMap((op) => {
    const fields = Object.entries(op.body ?? {}).map(([field, schema]) => [field, kindOf(schema)] as const);
    return fields.filter(([, kind]) => kind).map(([field, kind]) => ({ op, field, kind: kind as string }));
  });
  let before: Record<string, unknown>;
  beforeAll(async () => {
    for (const op of withPath) await idsOf(op, theirs);
    for (const { kind } of references) await theirs.idOf(kind);
    // Creations publish events a little later: wait until no more arrive.
    before = await settle(
      async () => {
        const [first, then] = [await holdings(theirs), await holdings(theirs)];
        return isDeepStrictEqual(first, then) && then;
      },
      { what: "all that follows from what was made" },
    );
  });

  test.each(named(withPath))("%s answers as if they were not there", async (_, op) => {
    const [own, foreign] = [await idsOf(op, mine), await idsOf(op, theirs)];
    const names = Object.keys(foreign);
    // Each id alone, and all together.
    const mixtures = [...names.map((name) => ({ ...own, [name]: foreign[name] as string })), foreign];
    for (const ids of mixtures) await expectAbsent(op, ids);
    await expectAbsent(op, Object.fromEntries(names.map((name) => [name, absent(foreign[name] as string)])));
  });

  test.each(named(withNames))("%s says which id is malformed", async (_, op) => {
    const own = await idsOf(op, mine);
    for (const name of Object.keys(own).filter((each) => hasForm(op, each))) {
      const answer = await ask(callerOf(op, mine), op, { ...own, [name]: MALFORMED });
      await refused(answer, "validation_error", { field: name });
    }
  });

  test.each(references.map((each) => [`${each.op.action} ${each.field}`, each] as const))(
    "%s does not take them in its body",
    async (_, { op, field, kind }) => {
      const id = await theirs.idOf(kind);
      const given = async (value: string) => {
        const body = { ...sampleBody(op.body ?? {}), [field]: value };
        return ask(callerOf(op, mine), op, await idsOf(op, mine), {}, body);
      };
      const answer = await given(id);
      if (op.refusesInBand) expect(answer.status).toBe(200);
      // A condition of a search: nothing fits it, as of an id that nothing has.
      else if (op.reads && answer.status === 200) {
        const { originating_query_id: _, ...none } = (await given(absent(id))).body;
        expect(answer.body).toMatchObject(none);
        expect(JSON.stringify(answer.body)).not.toContain(id);
      } else expect([400, 403, 404]).toContain(answer.status);
    },
  );

  test("stand in no list, and nothing of theirs was changed", async () => {
    const own = JSON.stringify(await holdings(mine));
    const foreign = await theirs.ids();
    expect(foreign.length).toBeGreaterThan(4);
    expect(foreign.filter((id) => own.includes(id))).toEqual([]);
    expect(await holdings(theirs)).toEqual(before);
  });
});

/** An id as good as this one that nothing has. */
function absent(id: string): string {
  if (/^[0-9a-f-]{36}$/.test(id)) return "0199c0de-7a11-7c3e-9f00-000000000000";
  return id.includes("_") ? id.replace(/_.*$/, "_nobodyhasthis0000000") : "nobody-has-this";
}

async function expectAbsent(op: Operation, ids: Record<string, string>): Promise<void> {
  const answer = await ask(callerOf(op, mine), op, ids);
  if (op.refusesInBand && answer.status === 200) return;
  await refused(answer, "not_found", { resource_type: expect.any(String) });
  expect(Object.values(ids)).toContain(answer.body.error.details.resource_id);
}

function kindOf(schema: unknown): string | null {
  const { anyOf } = schema as { anyOf?: unknown[] };
  return anyOf ? (anyOf.map(kindOf).find(Boolean) ?? null) : identifierKind(schema as never);
}

const ask = (...[caller, ...given]: Parameters<typeof send> extends [string, ...infer Rest] ? Rest : never) =>
  send(server.root, caller, ...given);
