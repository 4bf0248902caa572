import { isApiError } from "../errors.ts";
import type { Context } from "./command.ts";
import { Failure } from "./usage.ts";

const PAGE = 200;
const ID = /^ag_/;
const TEAM_ID = /^team_/;

/** Returns the id of an agent that is given by its id or its whole name. @throws Failure if there is no or more than one */
export async function findAgentId({ client, signal }: Context, typed: string): Promise<string> {
  if (ID.test(typed)) return typed;
  const found: string[] = [];
  for await (const { id, name } of client.agents.list.all({ search: typed, limit: PAGE }, { signal }))
    if (name.toLowerCase() === typed.toLowerCase()) found.push(id);
  const [only, ...others] = found;
  if (only === undefined)
    throw new Failure(`No agent is called ${typed}: \`sensorium agent list\` shows all.`, "not_found");
  if (others.length > 0)
    throw new Failure(
      `${found.length} agents are called ${typed}: give an id, ${found.join(" or ")}.`,
      "not_found",
    );
  return only;
}

/** Returns the id of a team that is given by its id or its whole name. @throws Failure if there is none */
export async function findTeamId({ client, signal }: Context, typed: string): Promise<string> {
  if (TEAM_ID.test(typed)) return typed;
  for await (const { id, name } of client.teams.list.all({ limit: PAGE }, { signal }))
    if (name.toLowerCase() === typed.toLowerCase()) return id;
  throw new Failure(`No team is called ${typed}.`, "not_found");
}

/** Returns a function that names agents in tables: by their ids, where the caller may not read the names. */
export async function agentNames({
  client,
  signal,
  options,
}: Context): Promise<(id: string | null) => string | null> {
  const names = new Map<string, string>();
  try {
    const isTable = options.json !== true && options.query === undefined;
    if (isTable)
      for await (const { id, name } of client.agents.list.all({ limit: PAGE }, { signal }))
        names.set(id, name);
  } catch (error) {
    if (!isApiError(error, "forbidden") && !isApiError(error, "insufficient_scope")) throw error;
  }
  return (id) => id && (names.get(id) ?? id);
}
