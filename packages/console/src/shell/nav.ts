import type { Action } from "../data/may.ts";
import * as Icon from "../ui/icons.tsx";

export interface Place {
  to: string;
  label: string;
  icon: Icon.LucideIcon;
  /** Hidden for those who may call this: they reach it from another page. */
  unless?: Action;
}

/** Pages that are useless without an operation: those who may not call it see a notice and no link to the page. */
export const NEEDS: Partial<Record<string, { action: Action; title: string }>> = {
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
      { to: "/agents", label: "Agents", icon: Icon.Bot },
      { to: "/connect", label: "Connect a device", icon: Icon.Laptop, unless: "agents.list" },
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
      { to: "/runs", label: "Runs", icon: Icon.Workflow },
      { to: "/templates", label: "Templates", icon: Icon.Shapes },
      { to: "/exemplars", label: "Exemplars", icon: Icon.BookMarked },
      { to: "/outputs", label: "Outputs", icon: Icon.FileOutput },
    ],
  },
  { title: "", places: [{ to: "/settings", label: "Settings", icon: Icon.Settings }] },
];
