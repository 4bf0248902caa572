/**
 * Where checkpoints are: each thread is a namespace of state, with a key for each checkpoint and for the writes of each
 * of its tasks. Keys sort by namespace of the checkpoint, then by its id, which is to say by time.
 */
import { createHash } from "node:crypto";
import { decoded, encoded } from "./namespaces.ts";

/** Of the threads of graphs in JavaScript: those of other languages are serialized otherwise. */
export const THREADS = "langgraph.js";
/** The form of the entries. */
export const FORMAT = "langgraph-js/1";

// biome-ignore lint/suspicious/noControlCharactersInRegex: no label may have them
const ODD_IN_LABEL = /[%./\x00-\x1f\x7f]/g;
/** Keys are ASCII, so that their order is the same here and in the service. */
const ODD_IN_KEY = /[^\x20-\x7e]|[%/~]/gu;
/** The longest part of a key: names of nested subgraphs have no limit, keys have one of 500. */
const MOST_PART = 150;

/** A checkpoint's place in the state of an agent. */
export interface Place {
  /** That of its thread. */
  namespace: string;
  /** LangGraph's `checkpoint_ns`. */
  ns: string;
  id: string;
}

/** Namespaces have at most 500 characters. */
const LONGEST_THREAD = 500 - THREADS.length - 1;

/** Returns the namespace of a thread, which has the whole id, so that threads can be listed. @throws RangeError */
export function threadNamespace(threadId: string): string {
  const label = encoded(threadId, ODD_IN_LABEL);
  const { length } = [...label];
  if (length > 0 && length <= LONGEST_THREAD) return `${THREADS}.${label}`;
  throw new RangeError(
    `thread_id: expected 1 to ${LONGEST_THREAD} characters; each of . / % counts as three (got ${length}).`,
  );
}

export const threadOf = (namespace: string) => decoded(namespace.slice(THREADS.length + 1));

/** The beginning of the keys of all checkpoints, or of those in one namespace. */
export const checkpointsPrefix = (ns?: string) => (ns === undefined ? "c/" : `c/${part(ns)}/`);

export const checkpointKey = ({ ns, id }: Omit<Place, "namespace">) => `${checkpointsPrefix(ns)}${part(id)}`;

export const checkpointIdOf = (key: string) => decoded(key.slice(key.lastIndexOf("/") + 1));

/** The beginning of the keys of all writes, of those in one namespace, or of those to one checkpoint. */
export function writesPrefix(ns?: string, id?: string): string {
  const parts = [ns, id].filter((each) => each !== undefined).map((each) => `${part(each)}/`);
  return `w/${parts.join("")}`;
}

/** The key of a task's writes, or of one that is replaced: an error, an interrupt, what it resumes with. */
export function writesKey({ ns, id }: Place, taskId: string, special?: number): string {
  return `${writesPrefix(ns, id)}${part(taskId)}${special === undefined ? "" : `/${special}`}`;
}

function part(text: string): string {
  const written = encoded(text, ODD_IN_KEY);
  return written.length <= MOST_PART ? written : `~${createHash("sha256").update(text).digest("hex")}`;
}
