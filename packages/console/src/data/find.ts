import type { Choice } from "../ui/combo.tsx";
import { plain } from "../ui/plain.ts";
import { api } from "./api.ts";

type How = { signal: AbortSignal };

/** Finds the choices that contain a text. */
type Find = (text: string, signal: AbortSignal) => Promise<Choice[]>;

const limit = 20;
const part = (text: string) => (text.trim() ? { search: text.trim() } : {});

/** Finds active agents by a part of their name. */
export const findAgents: Find = async (text, signal) => {
  const { agents } = await api.agents.list({ ...part(text), status: "active", limit }, { signal });
  return agents.map(({ id, name, description }) => ({ id, label: name, detail: description ?? undefined }));
};

export const findPeople: Find = async (text, signal) => {
  const { users } = await api.users.list({ ...part(text), limit }, { signal });
  return users.map(({ id, display_name, email }) => ({ id, label: display_name, detail: email }));
};

/** Finds memories by a part of their title or content. */
export const findMemories: Find = async (text, signal) => {
  const { memories } = await api.memories.list({ ...part(text), limit }, { signal });
  return memories.map(({ id, title, content }) => ({ id, label: title, detail: plain(content) }));
};

/** Finds by filtering all of a list, as there are few. */
const among =
  <T>(
    all: (of: { limit: number }, how: How) => AsyncIterable<T>,
    choiceOf: (row: T) => Choice | false,
  ): Find =>
  async (text, signal) => {
    const found: Choice[] = [];
    for await (const row of all({ limit: 200 }, { signal })) {
      const choice = choiceOf(row);
      const isFound =
        choice && `${choice.label} ${choice.detail ?? ""}`.toLowerCase().includes(text.trim().toLowerCase());
      if (isFound) found.push(choice);
    }
    return found.slice(0, limit);
  };

export const findTeams = among(api.teams.list.all, ({ id, name }) => ({ id, label: name }));

export const findProjects = among(api.projects.list.all, ({ key, name }) => ({
  id: key,
  label: key,
  detail: name === key ? undefined : name,
}));

/** Finds one's own agents. */
export const findOwnAgents = among(api.agents.listOwn.all, ({ id, name }) => ({ id, label: name }));

export const findOwnActiveAgents = among(
  api.agents.listOwn.all,
  ({ id, name, status }) => status === "active" && { id, label: name },
);
