import type { CompleteResult } from "@modelcontextprotocol/server";
import type { AskFor } from "./session.ts";

/** A source of completions for an argument. */
interface Source {
  action: string;
  /** Returns a row's value and its other searchable names. */
  read(row: Row): [value: string, ...alsoKnownBy: string[]];
  rows(answer: unknown): Row[];
}

type Row = Record<string, string>;

const HANDOFFS = { action: "handoffs.list", rows: (answer: unknown) => answer as Row[] };

const SOURCES: Record<string, Source> = {
  "resume handoff": { ...HANDOFFS, read: ({ name }) => [name as string] },
  "sensorium://handoffs/{id} id": { ...HANDOFFS, read: ({ id, name }) => [id as string, name as string] },
  "sensorium://outputs/{id} id": {
    action: "outputs.list",
    rows: (answer) => (answer as { outputs: Row[] }).outputs,
    read: ({ slug, title }) => [slug as string, title as string],
  },
  "brief project": {
    action: "projects.list",
    rows: (answer) => (answer as { projects: Row[] }).projects,
    read: ({ key, name }) => [key as string, name as string],
  },
};

const LOOKED_THROUGH = 200;
/** The protocol's limit (MCP: Completion). */
const MOST = 100;

/** Finds the source for an argument of a prompt, by name, or of a resource, by template. */
export function findSource(of: string, argument: string): Source | undefined {
  return SOURCES[`${of} ${argument}`];
}

/** Returns the latest values that match the input. @throws ProtocolError */
export async function completions(source: Source, typed: string, ask: AskFor): Promise<CompleteResult> {
  const { text } = await ask(source.action, { limit: LOOKED_THROUGH });
  const wanted = typed.trim().toLowerCase();
  const fits = source
    .rows(JSON.parse(text))
    .map(source.read)
    .filter((names) => names.some((name) => name.toLowerCase().includes(wanted)));
  const values = [...new Set(fits.map(([value]) => value))];
  return {
    completion: { values: values.slice(0, MOST), total: values.length, hasMore: values.length > MOST },
  };
}
