import type { ConnectOptions } from "mongoose";

/** While no server can be written to, callers are told so after this time and come again. */
const SERVER_SELECTION_MS = 5000;

/**
 * What is promised rests on these, whatever the address says: a write is answered when a majority has it on disk, and
 * what was written is read by whoever reads next.
 */
const PINNED = {
  w: "majority",
  journal: true,
  readPreference: "primary",
  readConcernLevel: "local",
  serverSelectionTimeoutMS: SERVER_SELECTION_MS,
} as const satisfies ConnectOptions;

/** Where the address says nothing else. */
const USUAL = {
  appName: "afferent",
  // A server that is silent is noticed after both together, and what waits for its answer is let go.
  heartbeatFrequencyMS: 5000,
  connectTimeoutMS: 5000,
  waitQueueTimeoutMS: 10_000,
  // Where no majority is left that has data, a write would wait for ever, and hold its connection.
  wtimeoutMS: 20_000,
  // Clouds forget idle connections after four minutes, without a word to either end.
  maxIdleTimeMS: 120_000,
} as const satisfies ConnectOptions;

const DATABASE = "afferent";

/** How MongoDB is talked to at an address. Not part of it: what limits how long one statement may take. */
export function mongoOptions(url: string): ConnectOptions {
  const [, database, query = ""] = /^[^:]+:\/\/[^/?]*(?:\/([^?]*))?(?:\?(.*))?$/.exec(url) ?? [];
  const given = new Set([...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()));
  const usual = Object.entries(USUAL).filter(([name]) => !given.has(name.toLowerCase()));
  // Given as an option, mongoose takes it for itself: the database of the login stays what the address makes it.
  return { ...Object.fromEntries(usual), ...PINNED, ...(!database && { dbName: DATABASE }) };
}
