import type { Agent } from "../../../../client/index.ts";
import type { Tab } from "../../ui/tabs.tsx";
import { Bundles } from "./bundles.tsx";
import { Handoffs } from "./handoffs.tsx";

/** What an agent left for its successors, and the context that it started with. */
export const handoffTabs = (agent: Agent): Tab[] => [
  { key: "handoffs", label: "Handoffs", needs: "handoffs.listOfAgent", content: <Handoffs agent={agent} /> },
  { key: "bundles", label: "Bundles", needs: "bundles.listOfAgent", content: <Bundles agent={agent} /> },
];
