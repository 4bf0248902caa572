import type { Agent } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import type { Action } from "../../data/may.ts";
import * as Icon from "../../ui/icons.tsx";
import type { Target } from "../nav.ts";

interface Found extends Omit<Target, "icon" | "group"> {
  /** Further text that the operation looks into. */
  words?: string;
}

interface Source {
  group: string;
  icon: Icon.LucideIcon;
  needs: Action;
  /** A longer text can match more. */
  isExact?: boolean;
  /** Returns at most `MOST_FOUND` whose name contains the text. */
  find(text: string, signal: AbortSignal): Promise<Found[]>;
}

/** More than are shown: if all matches are known, a longer text needs no further request. */
const MOST_FOUND = 20;
const MOST_SHOWN = 5;
/** The longest text that operations accept. */
const MAX_TEXT = 200;
const limit = MOST_FOUND;

/** A list that its operation searches. */
function searched<T>(
  group: string,
  icon: Icon.LucideIcon,
  needs: Action,
  list: (of: { search: string; limit: number }, how: { signal: AbortSignal }) => Promise<T>,
  found: (answer: T) => Found[],
): Source {
  return {
    group,
    icon,
    needs,
    find: async (search, signal) => found(await list({ search, limit }, { signal })),
  };
}

const agentsIn = ({ agents }: { agents: Agent[] }) =>
  agents.map(({ id, name, description }) => at("agents", id, name, description));

const SOURCES: Source[] = [
  searched("Agents", Icon.Bot, "agents.list", api.agents.list, agentsIn),
  searched("Runs", Icon.Workflow, "runs.list", api.runs.list, (runs) =>
    runs.map(({ id, goal, status }) => at("runs", id, goal, capitalised(status))),
  ),
  searched("Memories", Icon.Brain, "memories.list", api.memories.list, ({ memories }) =>
    memories.map(({ id, title, content, type }) => ({
      ...at("memories", id, title, capitalised(type)),
      words: content,
    })),
  ),
  searched("Channels", Icon.Hash, "channels.list", api.channels.list, ({ channels }) =>
    channels.map(({ id, name, description }) => at("channels", id, name, description)),
  ),
  searched("Schedules", Icon.CalendarClock, "schedules.list", api.schedules.list, ({ schedules }) =>
    schedules.map(({ id, name, event }) => at("schedules", id, name, event.type)),
  ),
  {
    ...{ group: "Events", icon: Icon.Radio, needs: "events.list", isExact: true },
    async find(text, signal) {
      // There are too many events to look into them: found are a type by its beginning, and a whole subject or id.
      const list = async (by: object) =>
        (await api.events.list({ ...by, limit: MOST_SHOWN }, { signal })).events;
      const typed = /^[\w-]+\.[\w.-]*$/.test(text) ? await list({ type: `${text}*` }) : [];
      const named = async () => (await Promise.all([list({ subject: text }), list({ id: text })])).flat();
      const events = new Map((typed.length > 0 ? typed : await named()).map((each) => [each.event_id, each]));
      return [...events.values()].map(({ event_id, payload: { type, subject, source } }) =>
        at("events", event_id, type, subject ?? source),
      );
    },
  },
];

/** Lists that are read once and filtered here. */
const LISTS: Source[] = [
  {
    ...{ group: "Templates", icon: Icon.Shapes, needs: "templates.list" },
    async find(_, signal) {
      const templates = await api.templates.list({}, { signal });
      return templates.map(({ slug, name }) => at("templates", slug, name, slug));
    },
  },
  {
    // The latest ones: older documents are found on their page.
    ...{ group: "Documents", icon: Icon.FileText, needs: "documents.list" },
    async find(_, signal) {
      const { documents } = await api.documents.list({ limit: 100 }, { signal });
      return documents.map(({ document_id, filename }) => at("documents", document_id, filename));
    },
  },
  {
    ...{ group: "Agents", icon: Icon.Bot, needs: "agents.listOwn" },
    find: async (_, signal) => agentsIn(await api.agents.listOwn({ limit: 200 }, { signal })),
  },
];

const at = (page: string, id: string, label: string, detail?: string | null): Found => ({
  to: `/${page}/${encodeURIComponent(id)}`,
  label,
  detail: detail ?? "",
});

/**
 * Returns a function that searches all sources, with few requests: the rate limit applies. It returns what is found and,
 * if a source failed, its error.
 */
export function newFinder(may: (action: Action) => boolean) {
  const lists = LISTS.filter(({ needs }) => !(may("agents.list") && needs === "agents.listOwn"));
  const sources = [...SOURCES, ...lists].filter(({ needs }) => may(needs));
  /** The last answer of each source. */
  const answered = new Map<Source, { text: string; found: Found[] }>();
  const ask = async (source: Source, text: string, signal: AbortSignal): Promise<Target[]> => {
    const { group, icon, isExact } = source;
    const isList = LISTS.includes(source);
    const last = answered.get(source);
    const isComplete = last && !isExact && text.startsWith(last.text) && last.found.length < MOST_FOUND;
    const isKnown = last && (isList || isComplete);
    const found = isKnown ? last.found : await source.find(text, signal);
    if (!isKnown) answered.set(source, { text, found });
    const wanted = isKnown || isList ? found.filter((each) => contains(each, text)) : found;
    return wanted.slice(0, MOST_SHOWN).map((each) => ({ ...each, icon, group }));
  };
  return async (given: string, signal: AbortSignal) => {
    const text = given.slice(0, MAX_TEXT);
    const answers = await Promise.allSettled(sources.map((source) => ask(source, text, signal)));
    return {
      targets: answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : [])),
      error: answers.find((answer) => answer.status === "rejected")?.reason as unknown,
    };
  };
}

/** Matches as the operations do: the whole text, in any case. */
export function contains({ label, detail = "", words = "" }: Found, text: string): boolean {
  return `${label}\n${detail}\n${words}`.toLowerCase().includes(text.toLowerCase());
}
