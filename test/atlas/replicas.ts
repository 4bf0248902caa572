import { settle } from "../support/settle.ts";
import { type Check, dbOf, NotSupported } from "./checks.ts";

const NOT_SATISFIABLE = 100;
/** More members than a replica set may have. */
const TOO_MANY = 51;
const BEFORE = 200;
const AFTER = 200;
const WRITERS = 8;

type Hello = { setName?: string; hosts?: string[]; primary?: string };

async function replicaSet(store: Parameters<Check>[0]["store"]): Promise<Hello> {
  const hello = (await dbOf(store).admin().command({ hello: 1 })) as Hello;
  if (!hello.setName) throw new NotSupported("no replica set");
  return hello;
}

export const checkMajority: Check = async ({ store }) => {
  const { hosts = [] } = await replicaSet(store);
  const things = dbOf(store).collection<{ _id: string }>("majority");
  const began = performance.now();
  await things.insertOne({ _id: "waits" });
  const ms = Math.round(performance.now() - began);
  const tooMany = await things.insertOne({ _id: "more" }, { writeConcern: { w: TOO_MANY } }).then(
    () => null,
    (error) => error.code ?? error.result?.getWriteConcernError()?.code,
  );
  if (tooMany !== NOT_SATISFIABLE)
    throw new Error(`a write that waits for ${TOO_MANY} members is answered with ${tooMany}`);
  return `${hosts.length} members, the first write took ${ms} ms`;
};

/** Writes all the time while the primary steps down, and reads what was answered. */
export const checkFailover: Check = async ({ store, mayStepDown }) => {
  const { primary } = await replicaSet(store);
  if (!mayStepDown) throw new NotSupported("not tried: npm run atlas:check -- --failover");
  const things = dbOf(store).collection<{ _id: string }>("failover");
  const answered: string[] = [];
  let isOver = false;
  let longest = 0;
  const writing = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0; !isOver; n++) {
      const _id = `${writer}-${n}`;
      const began = performance.now();
      // A write that is refused may be stored or not: only what was answered is promised.
      await things.insertOne({ _id }).then(
        () => answered.push(_id),
        () => undefined,
      );
      longest = Math.max(longest, performance.now() - began);
    }
  });
  try {
    await settle(() => answered.length >= BEFORE, { what: "writes before the failover" });
    await stepDown(store);
    const then = answered.length;
    await settle(() => answered.length >= then + AFTER, {
      within: 120_000,
      what: "writes after the failover",
    });
  } finally {
    isOver = true;
    await Promise.all(writing);
  }
  const kept = new Set((await things.find({}).toArray()).map(({ _id }) => _id));
  const lost = answered.filter((id) => !kept.has(id));
  if (lost.length > 0) throw new Error(`${lost.length} of ${answered.length} answered writes are lost`);
  const { primary: next } = await replicaSet(store);
  return `0 of ${answered.length} lost, ${primary} → ${next}, the longest write took ${Math.round(longest)} ms`;
};

const NOT_ALLOWED = new Set([13, 8000]);
/** No longer than a set of one member, which elects itself again, must be without a primary. */
const STEP_DOWN = { replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5, force: true };

async function stepDown(store: Parameters<Check>[0]["store"]): Promise<void> {
  try {
    await dbOf(store).admin().command(STEP_DOWN);
  } catch (error) {
    const { code, message } = error as { code?: number; message: string };
    if (code !== undefined && NOT_ALLOWED.has(code))
      throw new NotSupported(
        `this user may not have the primary step down (in Atlas: Test Failover): ${message}`,
      );
    // The primary may close the connection that tells it to step down.
    if (code !== undefined) throw error;
  }
}
