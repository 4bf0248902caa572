import type { Agent } from "../../../client/index.ts";
import { api } from "./api.ts";
import { useLoad } from "./use-load.ts";

const MOST = 200;

/** The agents by id, for naming them: the first 200; others are shown by their ids. */
export function useAgents(): Map<string, Agent> {
  const { data } = useLoad(async (signal) => (await api.agents.list({ limit: MOST }, { signal })).agents, []);
  return new Map(data?.map((agent) => [agent.id, agent]));
}
