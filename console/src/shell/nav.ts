import {
  Activity,
  Bot,
  Brain,
  Cable,
  FileOutput,
  FileText,
  Hash,
  type LucideIcon,
  MailX,
  Radio,
  Settings,
  Shapes,
  Workflow,
} from "lucide-react";

export interface Place {
  to: string;
  label: string;
  icon: LucideIcon;
}

/** What the sidebar leads to, in groups. */
export const PLACES: { title: string; places: Place[] }[] = [
  {
    title: "Sense",
    places: [
      { to: "/", label: "Overview", icon: Activity },
      { to: "/events", label: "Events", icon: Radio },
      { to: "/agents", label: "Agents", icon: Bot },
      { to: "/channels", label: "Channels", icon: Hash },
      { to: "/dead-letters", label: "Dead letters", icon: MailX },
      { to: "/ingest", label: "Ingest", icon: Cable },
    ],
  },
  {
    title: "Remember",
    places: [
      { to: "/memories", label: "Memories", icon: Brain },
      { to: "/documents", label: "Documents", icon: FileText },
    ],
  },
  {
    title: "Work together",
    places: [
      { to: "/runs", label: "Runs", icon: Workflow },
      { to: "/templates", label: "Templates", icon: Shapes },
      { to: "/outputs", label: "Outputs", icon: FileOutput },
    ],
  },
  { title: "", places: [{ to: "/settings", label: "Settings", icon: Settings }] },
];
