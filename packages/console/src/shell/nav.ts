import type { Action } from "../data/may.ts";
import * as Icon from "../ui/icons.tsx";
import { setTheme, THEMES } from "./theme.ts";

interface Place {
  to: string;
  label: string;
  icon: Icon.LucideIcon;
  /** Hidden for those who may call this: they reach it from another page. */
  unless?: Action;
}

/** Pages that are useless without an operation: those who may not call it see a notice and no link to the page. */
export const NEEDS: Partial<Record<string, { action: Action; title: string }>> = {
  "/events/types": { action: "events.types", title: "Event types" },
  "/events/types/:type": { action: "events.types", title: "Event type" },
  "/dead-letters": { action: "deliveries.deadLetters", title: "Dead letters" },
  "/ingest": { action: "ingest.listWebhooks", title: "Ingest" },
  "/ingest/webhooks/:id": { action: "ingest.listWebhooks", title: "Webhook" },
  "/memories/erase": { action: "memories.erase", title: "Erase permanently" },
};

/** The places of the sidebar, in groups. */
export const PLACES: { title: string; places: Place[] }[] = [
  {
    title: "Sense",
    places: [
      { to: "/", label: "Overview", icon: Icon.Activity },
      { to: "/events", label: "Events", icon: Icon.Radio },
      { to: "/events/types", label: "Event types", icon: Icon.Tag },
      { to: "/agents", label: "Agents", icon: Icon.Bot },
      { to: "/connect", label: "Enter a device code", icon: Icon.Laptop, unless: "agents.list" },
      { to: "/channels", label: "Channels", icon: Icon.Hash },
      { to: "/schedules", label: "Schedules", icon: Icon.CalendarClock },
      { to: "/dead-letters", label: "Dead letters", icon: Icon.MailX },
      { to: "/ingest", label: "Ingest", icon: Icon.Cable },
    ],
  },
  {
    title: "Remember",
    places: [
      { to: "/memories", label: "Memories", icon: Icon.Brain },
      { to: "/findings", label: "Findings", icon: Icon.Lightbulb },
      { to: "/documents", label: "Documents", icon: Icon.FileText },
      { to: "/specialists", label: "Specialists", icon: Icon.UserCog },
    ],
  },
  {
    title: "Work together",
    places: [
      { to: "/approvals", label: "Approvals", icon: Icon.Inbox },
      { to: "/runs", label: "Runs", icon: Icon.Workflow },
      { to: "/templates", label: "Templates", icon: Icon.Shapes },
      { to: "/exemplars", label: "Exemplars", icon: Icon.BookMarked },
      { to: "/handoffs", label: "Handoffs", icon: Icon.Replace },
      { to: "/outputs", label: "Outputs", icon: Icon.FileOutput },
    ],
  },
  { title: "", places: [{ to: "/settings", label: "Settings", icon: Icon.Settings }] },
];

/** A place that the palette can go to, or what it can do. */
export interface Target {
  /** Unique among the targets. An action has a name. */
  to: string;
  act?(): unknown;
  label: string;
  /** Small text that distinguishes places of the same name. */
  detail?: string | undefined;
  icon: Icon.LucideIcon;
  group: string;
}

type May = (action: Action) => boolean;

const setting = (tab: string, label: string, needs?: Action) => {
  return { to: `/settings?tab=${tab}`, label, detail: "Settings", icon: Icon.Settings, needs };
};

/** Pages that the sidebar does not show. */
const FURTHER: (Omit<Target, "group"> & { needs?: Action | undefined })[] = [
  { to: "/memories/merges", label: "Merge proposals", detail: "Memories", icon: Icon.GitMerge },
  { to: "/memories/map", label: "Map of memories", detail: "Memories", icon: Icon.Waypoints },
  { to: "/memories/health", label: "Memory health", detail: "Memories", icon: Icon.HeartPulse },
  { to: "/templates/new", label: "New template", detail: "Templates", icon: Icon.Shapes },
  { to: "/operator", label: "Operator", detail: "Installation", icon: Icon.Activity },
  setting("people", "People", "users.list"),
  setting("teams", "Teams", "teams.list"),
  setting("projects", "Projects"),
  setting("limits", "Limits"),
  setting("audit", "Audit log", "audit.list"),
  setting("account", "Your account"),
];

/** Whether an address belongs to a place below another one in the sidebar: Event types, not Events. */
export const isOfInner = (pathname: string, to: string) =>
  PLACES.some(({ places }) =>
    places.some((inner) => inner.to.startsWith(`${to}/`) && pathname.startsWith(inner.to)),
  );

/** Whether a place of the sidebar is for a person. */
export const isFor = ({ to, unless }: Place, may: May) =>
  may(NEEDS[to]?.action ?? "auth.session") && !(unless && may(unless));

/** Returns the pages that a person may open. */
export function pagesFor(may: May): Target[] {
  const main = PLACES.flatMap(({ places }) => places).filter((place) => isFor(place, may));
  const further = FURTHER.filter(({ needs }) => needs === undefined || may(needs));
  return [...main, ...further].map((page) => ({ ...page, group: "Pages" }));
}

const creating = (page: string, label: string, icon: Icon.LucideIcon, needs?: Action) => ({
  ...{ to: `${page}?create=1`, label, icon, needs },
});

/** The actions that begin anywhere: each opens a dialog of its page. */
const BEGINNINGS: (Omit<Target, "group"> & { needs?: Action | undefined })[] = [
  { to: "/events?publish=1", label: "Publish event", icon: Icon.Send, needs: "events.publish" },
  creating("/agents", "Create agent", Icon.Bot, "agents.create"),
  creating("/channels", "Create channel", Icon.Hash),
  creating("/schedules", "Create schedule", Icon.CalendarClock),
  creating("/runs", "Create run", Icon.Workflow),
  creating("/outputs", "Create output", Icon.FileOutput),
  creating("/specialists", "Create specialist", Icon.UserCog, "specialists.write"),
];

/** Returns what a person can do from anywhere. */
export function actionsFor(may: May, how: { signOut(): unknown; showHelp(): void }): Target[] {
  const begin = BEGINNINGS.filter(({ needs }) => needs === undefined || may(needs));
  const themes = THEMES.map(({ theme, label, icon }) => ({
    ...{ to: theme, label, icon, act: () => setTheme(theme) },
  }));
  const others = [
    { to: "shortcuts", label: "Keyboard shortcuts", icon: Icon.Keyboard, act: how.showHelp },
    { to: "sign-out", label: "Sign out", icon: Icon.LogOut, act: how.signOut },
  ];
  return [...begin, ...themes, ...others].map((each) => ({ ...each, group: "Actions" }));
}

/** Returns the pages that search for a text, beyond what the palette finds. */
export function searchesFor(text: string, may: May): Target[] {
  const q = encodeURIComponent(text);
  return [
    { to: `/memories?q=${q}`, label: `Memories about “${text}”`, icon: Icon.Brain },
    ...(may("events.list")
      ? [{ to: `/events?subject=${q}`, label: `Events with subject “${text}”`, icon: Icon.Radio }]
      : []),
  ].map((each) => ({ ...each, group: "Search" }));
}

/** Whether each word of the text begins a word of the page's name. */
export function isNamed({ label, detail = "" }: Target, text: string): boolean {
  const words = ` ${label} ${detail}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(` ${word}`));
}
