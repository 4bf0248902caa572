import type { Action } from "../../data/may.ts";
import { GitMerge, HeartPulse, type LucideIcon, Settings, Shapes } from "../../ui/icons.tsx";
import { NEEDS, PLACES } from "../nav.ts";

/** A place that the palette can go to. */
export interface Target {
  to: string;
  label: string;
  /** Small text that distinguishes places of the same name. */
  detail?: string | undefined;
  icon: LucideIcon;
  group: string;
}

type May = (action: Action) => boolean;

/** Pages that the sidebar does not show. */
const FURTHER: (Omit<Target, "group"> & { needs?: Action })[] = [
  { to: "/memories/merges", label: "Merge proposals", detail: "Memories", icon: GitMerge },
  { to: "/memories/health", label: "Memory health", detail: "Memories", icon: HeartPulse },
  { to: "/templates/new", label: "New template", detail: "Templates", icon: Shapes },
  { to: "/settings?tab=people", label: "People", detail: "Settings", icon: Settings, needs: "users.list" },
  { to: "/settings?tab=teams", label: "Teams", detail: "Settings", icon: Settings, needs: "teams.list" },
  { to: "/settings?tab=projects", label: "Projects", detail: "Settings", icon: Settings },
  { to: "/settings?tab=limits", label: "Limits", detail: "Settings", icon: Settings },
  { to: "/settings?tab=audit", label: "Audit log", detail: "Settings", icon: Settings, needs: "audit.list" },
  { to: "/settings?tab=account", label: "Your account", detail: "Settings", icon: Settings },
];

/** Returns the pages that a person may open. */
export function pagesFor(may: May): Target[] {
  const main = PLACES.flatMap(({ places }) => places).filter(
    ({ to, unless }) => may(NEEDS[to]?.action ?? "auth.session") && !(unless && may(unless)),
  );
  const further = FURTHER.filter(({ needs }) => needs === undefined || may(needs));
  return [...main, ...further].map(({ to, label, icon, ...more }) => ({
    ...{ to, label, icon, group: "Pages" },
    detail: "detail" in more ? more.detail : undefined,
  }));
}

/** Whether each word of the text begins a word of the page's name. */
export function isNamed({ label, detail = "" }: Target, text: string): boolean {
  const words = ` ${label} ${detail}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(` ${word}`));
}
