import type { ServiceSchema } from "moleculer";
import { Type } from "typebox";
import type { Call } from "../../lib/access/caller.ts";
import { type Operation, operation } from "../../lib/contract/contract.ts";
import { Fault, notFound } from "../../lib/contract/faults.ts";
import { Id } from "../../lib/contract/schema.ts";
import { newId } from "../../lib/ids.ts";
import { action } from "../../services/runtime.ts";

/** A made-up domain, to try the edge on: `made` counts what its operations have really done. */
export interface Things {
  operations: readonly Operation[];
  service: ServiceSchema;
  made: string[];
  /** When the requests that made them first came, in ms; undefined without an Idempotency-Key. */
  firstAt: (number | undefined)[];
  /** Lets the requests that wait in `POST /things/slow` go on. */
  release(): void;
  /** How many of them wait. */
  waiting(): number;
}

const Thing = Type.Object({
  ...{ id: Id("ch"), name: Type.String({ examples: ["lamp"] }), secret: Type.Optional(Type.String()) },
});
const access = { by: "any", scope: "send" } as const;
const named = { name: Type.String({ minLength: 1, maxLength: 20, examples: ["lamp"] }) };
const path = { thing_id: Id("ch") };
const makes = { access, body: named, results: { 201: Thing } } as const;
const answers = { access, results: { 200: Thing } } as const;

const create = operation({
  ...{ action: "things.create", route: "POST /things", summary: "Make a thing", ...makes },
  body: { ...named, size: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })) },
});
const createSecret = operation({
  ...{ action: "things.create_secret", route: "POST /things/secret", summary: "Make a secret", ...makes },
  secret: true,
});
const createLarge = operation({
  ...{ action: "things.create_large", route: "POST /things/large", summary: "Make many words", ...makes },
});
const search = operation({
  ...{ action: "things.search", route: "POST /things/search", summary: "Look for a thing", ...answers },
  ...{ body: named, reads: true },
});
const slow = operation({
  ...{ action: "things.slow", route: "POST /things/slow", summary: "Make a thing, after a while", ...makes },
});
const fail = operation({
  ...{ action: "things.fail", route: "POST /things/fail", summary: "Fail as the body says", ...answers },
  body: { how: Type.String() },
});
const list = operation({
  ...{ action: "things.list", route: "GET /things", summary: "List things", access },
  query: {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
    tags: Type.Optional(Type.Array(Type.String())),
  },
  results: { 200: Type.Object({ names: Type.Array(Type.String()), query: Type.Unknown() }) },
});
const get = operation({
  ...{ action: "things.get", route: "GET /things/{thing_id}", summary: "Read a thing", path, ...answers },
});
const rename = operation({
  ...{ action: "things.rename", route: "PATCH /things/{thing_id}", summary: "Rename a thing", ...answers },
  ...{ path, body: named },
});
const remove = operation({
  ...{ action: "things.remove", route: "DELETE /things/{thing_id}", summary: "Remove a thing" },
  ...{ access, path, results: { 204: null } },
});
const people = operation({
  ...{ action: "things.people", route: "POST /things/people", summary: "For people" },
  ...{ access: { by: "user" }, results: { 204: null } },
});
const status = operation({
  ...{ action: "things.status", route: "GET /status", root: true, summary: "Who asks from where" },
  access: { by: "public" },
  results: { 200: Type.Object({ ip: Type.String(), request_id: Type.String() }) },
});
const stream = operation({
  ...{ action: "things.stream", route: "GET /things/stream", summary: "Watch things", access },
  ...{ results: { 200: Type.String() }, produces: ["text/event-stream"], stream: true },
});
const echo = operation({
  ...{ action: "things.echo", route: "POST /things/echo", summary: "For anybody", ...makes },
  access: { by: "public" },
});

const ALL = [
  ...[create, createSecret, createLarge, search, slow, fail, list, get, rename, remove, people, status],
  ...[stream, echo],
];

export function things(): Things {
  const made: string[] = [];
  const firstAt: (number | undefined)[] = [];
  let held: (() => void)[] = [];
  const make = (ctx: Call<{ name: string }>) => {
    const id = newId("ch", ctx.meta.idempotency_seed);
    made.push(ctx.params.name);
    firstAt.push(ctx.meta.first_at);
    return { id, name: ctx.params.name };
  };
  const service: ServiceSchema = {
    name: "things",
    actions: {
      create: action(create, make),
      echo: action(echo, make),
      create_secret: action(createSecret, (ctx) => ({ ...make(ctx), secret: `whsec_${made.length}` })),
      create_large: action(createLarge, (ctx) => ({ ...make(ctx), text: "ö".repeat(2_000_000) })),
      search: action(search, make),
      slow: action(slow, async (ctx) => {
        await new Promise<void>((resolve) => held.push(resolve));
        return make(ctx);
      }),
      fail: action(fail, (ctx) => {
        made.push(ctx.params.how);
        throw ctx.params.how === "unexpectedly"
          ? new Error("ENOENT: no such file /var/lib/secret")
          : new Fault(ctx.params.how as "conflict", "As was asked for.", { retry_after_seconds: 7 });
      }),
      list: action(list, (ctx) => ({ names: made, query: ctx.params })),
      get: action(get, (ctx) => {
        throw notFound("thing", ctx.params.thing_id);
      }),
      rename: action(rename, make),
      remove: action(remove, () => null),
      people: action(people, () => null),
      status: action(status, (ctx) => ({ ip: ctx.meta.ip, request_id: ctx.meta.request_id })),
    },
  };
  const release = () => {
    for (const go of held) go();
    held = [];
  };
  return {
    operations: ALL as unknown as Operation[],
    service,
    made,
    firstAt,
    release,
    waiting: () => held.length,
  };
}
