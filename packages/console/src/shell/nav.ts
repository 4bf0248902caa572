import type { Action } from "../data/may.ts";
import {
  Activity,
  BookMarked,
  Bot,
  Brain,
  Cable,
  CalendarClock,
  FileOutput,
  FileText,
  Hash,
  Laptop,
  Lightbulb,
  type LucideIcon,
  MailX,
  Radio,
  Settings,
  Shapes,
  UserCog,
  Workflow,
} from "../ui/icons.tsx";

export interface Place {
  to: string;
  label: string;
  icon: LucideIcon;
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
      { to: "/", label: "Overview", icon: Activity },
      { to: "/events", label: "Events", icon: Radio },
      { to: "/agents", label: "Agents", icon: Bot },
      { to: "/connect", label: "Connect a device", icon: Laptop, unless: "agents.list" },
      { to: "/channels", label: "Channels", icon: Hash },
      { to: "/schedules", label: "Schedules", icon: CalendarClock },
      { to: "/dead-letters", label: "Dead letters", icon: MailX },
      { to: "/ingest", label: "Ingest", icon: Cable },
    ],
  },
  {
    title: "Remember",
    places: [
      { to: "/memories", label: "Memories", icon: Brain },
      { to: "/findings", label: "Findings", icon: Lightbulb },
      { to: "/documents", label: "Documents", icon: FileText },
      { to: "/specialists", label: "Specialists", icon: UserCog },
    ],
  },
  {
    title: "Work together",
    places: [
      { to: "/runs", label: "Runs", icon: Workflow },
      { to: "/templates", label: "Templates", icon: Shapes },
      { to: "/exemplars", label: "Exemplars", icon: BookMarked },
      { to: "/outputs", label: "Outputs", icon: FileOutput },
    ],
  },
  { title: "", places: [{ to: "/settings", label: "Settings", icon: Settings }] },
];
