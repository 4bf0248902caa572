import type { Choice } from "../ui/combo.tsx";
import { plain } from "../ui/plain.ts";
import { api } from "./api.ts";

const limit = 20;
const part = (text: string) => (text.trim() ? { search: text.trim() } : {});

/** Finds active agents by a part of their name. */
export async function findAgents(text: string, signal: AbortSignal): Promise<Choice[]> {
  const { agents } = await api.agents.list({ ...part(text), status: "active", limit }, { signal });
  return agents.map(({ id, name, description }) => ({ id, label: name, detail: description ?? undefined }));
}

export async function findPeople(text: string, signal: AbortSignal): Promise<Choice[]> {
  const { users } = await api.users.list({ ...part(text), limit }, { signal });
  return users.map(({ id, display_name, email }) => ({ id, label: display_name, detail: email }));
}

/** Finds teams by filtering all of them, as there are few. */
export async function findTeams(text: string, signal: AbortSignal): Promise<Choice[]> {
  const found: Choice[] = [];
  for await (const { id, name } of api.teams.list.all({ limit: 200 }, { signal }))
    if (name.toLowerCase().includes(text.trim().toLowerCase())) found.push({ id, label: name });
  return found.slice(0, limit);
}

export async function findProjects(text: string, signal: AbortSignal): Promise<Choice[]> {
  const found: Choice[] = [];
  for await (const { key, name } of api.projects.list.all({ limit: 200 }, { signal }))
    if (`${key} ${name}`.toLowerCase().includes(text.trim().toLowerCase()))
      found.push({ id: key, label: key, detail: name === key ? undefined : name });
  return found.slice(0, limit);
}

/** Finds memories by a part of their title or content. */
export async function findMemories(text: string, signal: AbortSignal): Promise<Choice[]> {
  const { memories } = await api.memories.list({ ...part(text), limit }, { signal });
  return memories.map(({ id, title, content }) => ({ id, label: title, detail: plain(content) }));
}
