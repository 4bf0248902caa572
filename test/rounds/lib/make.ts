import type { Answer, Api } from "../../support/http.ts";
import { DIAMOND } from "../../support/runs.ts";
import type { Ledger } from "./ledger.ts";
import { lane, pause, type Round } from "./round.ts";
import type { World } from "./world.ts";

const EVERY_MS = 10;
/** When a schedule is due, from its creation. */
const DUE_MS = 2000;
/** Events of schedules; no receiver wants them. */
const DUE_TYPE = "org.example.due";

/** What the server lists of a thing that was made. */
export interface Listed {
  name: string;
  /** Whether it was brought to its end, for what has one. */
  isEnded?: boolean;
}

/** Something that clients make under Idempotency-Keys, and bring to its end: each exists once afterwards, and stays ended. */
interface Kind {
  make(world: World, name: string): Promise<Answer>;
  /** It is refused with 400 when its time is over, unless it was made. */
  expires?: true;
  /** May be repeated. */
  end?(world: World, id: string, name: string): Promise<Answer>;
  list(world: World): Promise<Listed[]>;
}

// biome-ignore lint/suspicious/noExplicitAny: rows of different lists
type Rows = any[];

const under = (name: string) => ({ "idempotency-key": name });

const KINDS: Record<string, Kind> = {
  channel: {
    make: ({ admin }, name) => admin.post("/channels", { name }, under(name)),
    list: async ({ admin }) => listAll(admin, "/channels?limit=200", "channels"),
  },
  memory: {
    make: ({ admin }, name) =>
      admin.post(
        "/memories",
        { type: "semantic", scope: "institutional", title: name, content: name },
        under(name),
      ),
    list: async ({ admin }) =>
      (await listAll(admin, "/memories?limit=200", "memories")).map(({ title }) => ({ name: title })),
  },
  run: {
    make: ({ admin }, name) => admin.post("/runs", { goal: name, steps: DIAMOND }, under(name)),
    end: ({ admin }, id, name) =>
      admin.post(`/runs/${id}/steps/complete`, { step_key: "a" }, under(`${name}-a`)),
    list: async ({ admin }) =>
      (await listAll(admin, "/runs")).map(({ goal, steps }) => ({
        name: goal,
        isEnded: steps.some(({ step_key, status }: Rows[0]) => step_key === "a" && status === "completed"),
      })),
  },
  approval: {
    make: ({ admin }, name) => admin.post("/approvals", { title: name, question: name }, under(name)),
    end: ({ person }, id) => person.post(`/approvals/${id}/answer`, { choice: "approve" }),
    list: async ({ person }) =>
      (await listAll(person, "/approvals?limit=200", "approvals")).map(({ title, choice }) => ({
        name: title,
        isEnded: choice === "approve",
      })),
  },
  schedule: {
    make: ({ admin, ledger }, name) => {
      const at = new Date((ledger.sentAt.get(name) as number) + DUE_MS).toISOString();
      return admin.post("/schedules", { name, at, event: { type: DUE_TYPE, subject: name } }, under(name));
    },
    expires: true,
    // Not the schedules: each must have published its event, once.
    list: async ({ admin }) =>
      (await listAll(admin, `/events?limit=200&type=${DUE_TYPE}`, "events")).map(({ payload }) => ({
        name: payload.subject,
      })),
  },
  message: {
    make: async ({ subject }, name) => {
      await subject.broker?.send(name);
      return { status: 201, headers: new Headers(), body: { id: name } };
    },
    list: async ({ admin }) =>
      (await listAll(admin, "/events?limit=200&type=com.rounds.*", "events")).map(
        ({ payload }) => payload.data,
      ),
  },
};

const kindOf = (name: string) => KINDS[name.split("-")[0] as string] as Kind;
/** Of a world without a broker all but messages. */
const kindsOf = ({ subject }: World) =>
  Object.keys(KINDS).filter((kind) => kind !== "message" || subject.broker !== undefined);

/** Makes things, and brings to their end those that have one, until the round is over. */
export function makers(world: World, round: Round): Promise<void>[] {
  const { ledger } = world;
  // Repeat unanswered requests: whether the first was processed or not, the answer is success.
  const again = leftOf(ledger);
  const report = (what: string) => ledger.find(`making: ${what}`);
  const step = async () => {
    const name = again.pop() ?? ledger.newName(`${round.random.pick(kindsOf(world))}-r${round.number}`);
    await make(world, name, () => round.struck);
    await pause(EVERY_MS);
  };
  return [lane(round, report, step)];
}

/** Asks again for what was asked for and not answered. */
export async function makeTheRest(world: World): Promise<void> {
  for (const name of leftOf(world.ledger)) await make(world, name, () => false);
}

const leftOf = ({ made, unmade, ended }: Ledger) => [
  ...unmade,
  ...[...made.keys()].filter((name) => kindOf(name).end && !ended.has(name)),
];

async function make(world: World, name: string, isStruck: () => boolean): Promise<void> {
  const { ledger } = world;
  const { make, expires, end } = kindOf(name);
  const took = ({ status, body }: Answer, wanted: number) => {
    if (status === wanted) return true;
    // 409: the first request is still in progress.
    if (isStruck() && (status >= 500 || status === 409)) throw new Error(`answered with ${status}`);
    ledger.find(`${name} was answered with ${status} ${JSON.stringify(body)}`);
    return false;
  };
  if (!ledger.made.has(name)) {
    const answer = await make(world, name);
    if (expires && answer.status === 400) ledger.unmade.delete(name);
    else if (took(answer, 201)) ledger.make(name, answer.body.id);
  }
  const id = ledger.made.get(name);
  if (end && id !== undefined && took(await end(world, id, name), 200)) ledger.ended.add(name);
}

/** Everything of these kinds that the server has. */
export async function everyThing(world: World): Promise<Listed[]> {
  const lists: Listed[] = [];
  for (const kind of kindsOf(world)) {
    const listed = await (KINDS[kind] as Kind).list(world);
    lists.push(...listed.filter(({ name }) => name.startsWith(`${kind}-r`)));
  }
  return lists;
}

/** The rows of a list, over all its pages; `key` names them in the answer, which is an array otherwise. */
export async function listAll(by: Api, path: string, key?: string): Promise<Rows> {
  const rows: Rows = [];
  for (let more = ""; ; ) {
    const { status, body } = await by.get(`${path}${more}`);
    if (status !== 200) throw new Error(`GET ${path} was answered with ${status}`);
    const page: Rows = key === undefined ? body : body[key];
    rows.push(...page);
    const next = body.next_cursor ?? body.next;
    if (next) more = `&cursor=${encodeURIComponent(next)}`;
    else if (page.length > 0 && rows.length < (body.total ?? 0)) more = `&offset=${rows.length}`;
    else return rows;
  }
}
