import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import type { Memory, MergeProposal } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { plural } from "../../data/format.ts";
import { nullIfGone } from "../../data/names.ts";
import { useLoad } from "../../data/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { messageOf } from "../../ui/failure.tsx";
import { Load } from "../../ui/table.tsx";

interface Props {
  decision: Decision;
  find(signal: AbortSignal): Promise<Pair[]>;
  onClose(): void;
}

/** Decides many proposals: what will happen, the progress, and the outcome of each. */
export function BulkDialog({ decision, find, onClose }: Props) {
  const found = useLoad(find, []);
  const [outcomes, setOutcomes] = useState<Outcome[]>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const pairs = found.data ?? [];
  const left = pairs.length - (outcomes?.length ?? 0);
  const isRunning = outcomes !== undefined && left > 0;
  const run = async () => {
    running.current = new AbortController();
    setOutcomes([]);
    for await (const outcome of decideAll(pairs, decision, running.current.signal))
      setOutcomes((before = []) => [...before, outcome]);
  };
  const count = plural(pairs.length, "pair");
  const verb = decision === "merge" ? "Merge" : "Reject";
  const footer =
    outcomes === undefined ? (
      <>
        <Button label="Cancel" onClick={onClose} />
        <Button
          label={pairs.length === 0 ? verb : `${verb} ${count}`}
          kind="primary"
          disabled={pairs.length === 0}
          onClick={run}
        />
      </>
    ) : (
      <Button label={isRunning ? "Stop" : "Done"} kind={isRunning ? "plain" : "primary"} onClick={onClose} />
    );
  return (
    <Dialog title={`${verb} pairs of memories`} onClose={onClose} footer={footer}>
      <Load of={found} lines={3}>
        {() => (
          <div className="stack tight">
            {outcomes === undefined ? (
              <Consequences decision={decision} pairs={pairs} />
            ) : (
              <>
                <progress value={outcomes.length} max={pairs.length} aria-label="Decided" />
                <Outcomes decision={decision} outcomes={outcomes} of={pairs.length} />
              </>
            )}
          </div>
        )}
      </Load>
    </Dialog>
  );
}

function Consequences({ decision, pairs }: { decision: Decision; pairs: Pair[] }) {
  const different = pairs.filter((pair) => !isExact(pair)).length;
  if (pairs.length === 0)
    return <p className="muted">No open proposal has two memories with the same text.</p>;
  if (decision === "reject")
    return <p className="muted">All memories stay as they are. These pairs are not proposed again.</p>;
  return (
    <>
      <p className="muted">
        Of each pair the memory with the wider scope is kept, else the newer one. The other is retired and
        stays in the lineage. This cannot be undone.
      </p>
      {different > 0 ? (
        <p className="notice warn">
          {different} of {pairs.length} differ in their text. What only the retired memory says is no longer
          found: open a pair to combine both.
        </p>
      ) : (
        <p className="muted">The memories of each pair have the same title and content.</p>
      )}
    </>
  );
}

/** Counts what went well, and lists what did not. */
function Outcomes({ decision, outcomes, of }: { decision: Decision; outcomes: Outcome[]; of: number }) {
  const problems = outcomes.filter(({ problem }) => problem !== undefined);
  const done = outcomes.length - problems.length;
  return (
    <>
      <p role="status">
        {decision === "merge" ? "Merged" : "Rejected"} {done} of {of}.
        {problems.length > 0 && ` ${problems.length} failed:`}
      </p>
      {problems.length > 0 && (
        <ul className="framed" aria-label="Failed">
          {problems.map(({ pair, problem }) => (
            <li key={pair.id}>
              <Link to={`/memories/merges/${pair.id}`}>{titleOf(pair)}</Link>
              <p className="muted small">{problem}</p>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A proposal with its memories; null if a memory is unreadable or deleted. */
export type Pair = MergeProposal & { a: Memory | null; b: Memory | null };

export const titleOf = ({ a, b }: Pair) => a?.title ?? b?.title ?? "Not readable";

export type Decision = "merge" | "reject";

interface Outcome {
  pair: Pair;
  /** The result, where it is not what was asked for. */
  problem?: string;
}

/** Many requests may meet the rate limit: then each waits as long as the server says. */
const RETRIES = 20;

/** Similarities are rounded: above this, both have the same vector. */
const SAME = 0.9995;

/** The share in percent: 100 only for the same. */
export function similarityInWords(similarity: number): string {
  return similarity >= SAME ? "100%" : `${Math.floor(similarity * 100)}%`;
}

/** Whether both say exactly the same. */
function isExact({ a, b }: Pair): boolean {
  return a !== null && b !== null && a.title === b.title && a.content === b.content;
}

/** Reads each memory once: similar memories occur in many proposals. */
export async function withMemories(proposals: MergeProposal[], signal: AbortSignal): Promise<Pair[]> {
  const ids = new Set(proposals.flatMap(({ memory_a_id, memory_b_id }) => [memory_a_id, memory_b_id]));
  const options = { signal, retries: RETRIES };
  // A purged or unreadable memory should not hide the others.
  const read = (id: string) => api.memories.get({ id }, options).catch(nullIfGone);
  const memories = new Map(await Promise.all([...ids].map(async (id) => [id, await read(id)] as const)));
  return proposals.map((proposal) => ({
    ...proposal,
    a: memories.get(proposal.memory_a_id) ?? null,
    b: memories.get(proposal.memory_b_id) ?? null,
  }));
}

/** Memories are read a few pairs at a time. */
const READ_AT_ONCE = 10;

/** Returns all open proposals whose memories have the same title and content. */
export async function findExact(signal: AbortSignal): Promise<Pair[]> {
  const alike: MergeProposal[] = [];
  for await (const proposal of api.merges.list.all({ status: "open", limit: 200 }, { signal }))
    if ((proposal.similarity ?? 0) >= SAME) alike.push(proposal);
  const exact: Pair[] = [];
  for (let at = 0; at < alike.length; at += READ_AT_ONCE)
    exact.push(...(await withMemories(alike.slice(at, at + READ_AT_ONCE), signal)).filter(isExact));
  return exact;
}

const WIDTH = { agent: 0, team: 1, institutional: 2 };

export function newer(a: Memory | null, b: Memory | null): Memory | null {
  if (!a || !b) return a ?? b;
  return a.created_at > b.created_at ? a : b;
}

/** Returns the memory to keep: the one that more can read, else the newer one. */
function survivorOf({ a, b }: Pair): Memory | null {
  if (!a || !b || a.scope === b.scope) return newer(a, b);
  return WIDTH[a.scope] > WIDTH[b.scope] ? a : b;
}

/**
 * Decides proposals one by one and yields the outcome of each; a refused one does not stop the others. Of several
 * copies of a memory the older ones are merged first, so that all end in the newest.
 */
async function* decideAll(
  pairs: readonly Pair[],
  decision: Decision,
  signal: AbortSignal,
): AsyncGenerator<Outcome> {
  const merged = new Set<string>();
  for (const pair of pairs.toSorted((one, other) => older(one).localeCompare(older(other)))) {
    if (signal.aborted) return;
    try {
      const problem = await decide(pair, decision, merged);
      yield problem ? { pair, problem } : { pair };
    } catch (error) {
      yield { pair, problem: messageOf(error) };
    }
  }
}

/** @param merged ids of the memories that were merged into others */
async function decide(pair: Pair, decision: Decision, merged: Set<string>): Promise<string | undefined> {
  const { id, memory_a_id, memory_b_id } = pair;
  const options = { retries: RETRIES };
  if (decision === "reject") return void (await api.merges.reject({ id }, options));
  if (merged.has(memory_a_id) || merged.has(memory_b_id)) {
    const resolution_note = "One of the memories was merged into another meanwhile.";
    return void (await api.merges.reject({ id, resolution_note }, options));
  }
  const survivor = survivorOf(pair);
  if (!pair.a || !pair.b || !survivor) return "One of the memories was deleted, or you cannot read it.";
  await api.merges.resolve({ id, surviving_memory_id: survivor.id }, options);
  merged.add(survivor.id === memory_a_id ? memory_b_id : memory_a_id);
}

const older = ({ a, b }: Pair) => [a?.created_at ?? "", b?.created_at ?? ""].sort()[0] as string;
