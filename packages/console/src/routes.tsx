import type { ComponentType, ReactNode } from "react";
import { createBrowserRouter, Navigate } from "react-router";
import type { Action } from "./data/may.ts";
import { useSession } from "./data/session.ts";
import { lazily } from "./shell/error-boundary.tsx";
import { Layout } from "./shell/layout.tsx";
import { NEEDS } from "./shell/nav.ts";
import { ButtonLink } from "./ui/button.tsx";
import { Compass, Lock } from "./ui/icons.tsx";
import { Empty, FOR_ADMINS, Page as Frame } from "./ui/page.tsx";

/** A page's route, which loads the export `name` of `module` on the first visit. */
function page<M extends Record<string, unknown>>(
  path: string,
  module: () => Promise<M>,
  name: keyof M & string,
) {
  const Page = lazily(async () => (await module())[name] as ComponentType);
  const needs = NEEDS[path];
  return { path, element: needs ? <Guarded {...needs} page={<Page />} /> : <Page /> };
}

/** Shows the refusal at once, without asking the server for what it would refuse. */
function Guarded({ action, title, page }: { action: Action; title: string; page: ReactNode }) {
  const { may } = useSession();
  if (may(action)) return page;
  return (
    <Frame title={title}>
      <Empty icon={Lock} title="Admins only">
        {FOR_ADMINS}
      </Empty>
    </Frame>
  );
}

export const router = createBrowserRouter([
  {
    element: <Layout />,
    children: [
      page("/", () => import("./pages/overview/overview.tsx"), "Overview"),
      page("/events", () => import("./pages/events/events.tsx"), "Events"),
      page("/events/types", () => import("./pages/events/types.tsx"), "EventTypes"),
      page("/events/types/:type", () => import("./pages/events/types.tsx"), "EventTypePage"),
      page("/events/:id", () => import("./pages/events/event.tsx"), "Event"),
      page("/agents", () => import("./pages/agents/agents.tsx"), "Agents"),
      page("/agents/:id", () => import("./pages/agents/agent.tsx"), "AgentPage"),
      page("/agents/:id/handoffs/:handoff", () => import("./pages/handoffs/handoffs.tsx"), "HandoffPage"),
      page("/agents/:id/bundles/:bundle", () => import("./pages/handoffs/handoffs.tsx"), "BundlePage"),
      page("/handoffs", () => import("./pages/handoffs/handoffs.tsx"), "HandoffsPage"),
      page("/connect", () => import("./pages/authorize/authorize.tsx"), "Connect"),
      page("/oauth/authorize", () => import("./pages/authorize/authorize.tsx"), "Authorize"),
      page("/channels", () => import("./pages/channels/channels.tsx"), "Channels"),
      page("/channels/:id", () => import("./pages/channels/channels.tsx"), "ChannelPage"),
      page("/schedules", () => import("./pages/schedules/schedules.tsx"), "Schedules"),
      page("/schedules/:id", () => import("./pages/schedules/schedules.tsx"), "SchedulePage"),
      page("/dead-letters", () => import("./pages/dead-letters/dead-letters.tsx"), "DeadLetters"),
      page("/memories", () => import("./pages/memories/memories.tsx"), "Memories"),
      page("/memories/health", () => import("./pages/memories/health.tsx"), "Health"),
      page("/memories/map", () => import("./pages/memories/map.tsx"), "MemoryMap"),
      page("/memories/erase", () => import("./pages/memories/erase.tsx"), "Erase"),
      page("/memories/merges", () => import("./pages/memories/merges.tsx"), "Merges"),
      page("/memories/merges/:id", () => import("./pages/memories/merges.tsx"), "Merge"),
      page("/memories/:id", () => import("./pages/memories/memory.tsx"), "MemoryPage"),
      page("/findings", () => import("./pages/findings/findings.tsx"), "Findings"),
      page("/specialists", () => import("./pages/specialists/specialists.tsx"), "Specialists"),
      page("/specialists/:name", () => import("./pages/specialists/specialists.tsx"), "SpecialistPage"),
      page("/exemplars", () => import("./pages/exemplars/exemplars.tsx"), "Exemplars"),
      page("/exemplars/:id", () => import("./pages/exemplars/exemplars.tsx"), "ExemplarPage"),
      page("/documents", () => import("./pages/documents/documents.tsx"), "Documents"),
      page("/documents/:id", () => import("./pages/documents/document.tsx"), "DocumentPage"),
      page("/approvals", () => import("./pages/approvals/approvals.tsx"), "Approvals"),
      page("/approvals/:id", () => import("./pages/approvals/approvals.tsx"), "ApprovalPage"),
      page("/runs", () => import("./pages/runs/runs.tsx"), "Runs"),
      page("/runs/:id", () => import("./pages/runs/run.tsx"), "RunPage"),
      page("/templates", () => import("./pages/templates/templates.tsx"), "Templates"),
      page("/templates/new", () => import("./pages/templates/author.tsx"), "AuthorTemplate"),
      page("/templates/:slug", () => import("./pages/templates/template.tsx"), "Template"),
      page("/templates/:slug/edit", () => import("./pages/templates/author.tsx"), "EditTemplate"),
      page("/outputs", () => import("./pages/outputs/outputs.tsx"), "Outputs"),
      page("/outputs/:id", () => import("./pages/outputs/output.tsx"), "OutputPage"),
      page("/ingest", () => import("./pages/ingest/ingest.tsx"), "Ingest"),
      page("/ingest/webhooks/:id", () => import("./pages/ingest/webhook.tsx"), "WebhookPage"),
      page("/operator", () => import("./pages/operator/operator.tsx"), "Operator"),
      page("/settings", () => import("./pages/settings/settings.tsx"), "Settings"),
      // After a sign-in by the identity provider that ended here (shell/sign-in.tsx).
      { path: "/sign-in/*", element: <Navigate to="/" replace /> },
      { path: "*", element: <NotFound /> },
    ],
  },
]);

function NotFound() {
  return (
    <Frame title="Page not found">
      <Empty
        icon={Compass}
        title="This page does not exist"
        action={<ButtonLink label="Go to overview" to="/" />}
      >
        Check the address, or start from the overview.
      </Empty>
    </Frame>
  );
}
