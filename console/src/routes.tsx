import { type ComponentType, lazy } from "react";
import { createBrowserRouter } from "react-router";
import { Layout } from "./shell/layout.tsx";
import { NotFound } from "./shell/not-found.tsx";

/** Pages by their path, each loaded when it is first gone to: `module`'s export `name`. */
function page<M extends Record<string, unknown>>(
  path: string,
  module: () => Promise<M>,
  name: keyof M & string,
) {
  const Page = lazy(async () => ({ default: (await module())[name] as ComponentType }));
  return { path, element: <Page /> };
}

export const router = createBrowserRouter([
  {
    element: <Layout />,
    children: [
      page("/", () => import("./pages/overview/overview.tsx"), "Overview"),
      page("/events", () => import("./pages/events/events.tsx"), "Events"),
      page("/events/:id", () => import("./pages/events/event.tsx"), "Event"),
      page("/agents", () => import("./pages/agents/agents.tsx"), "Agents"),
      page("/agents/:id", () => import("./pages/agents/agent.tsx"), "Agent"),
      page("/connect", () => import("./pages/agents/connect.tsx"), "Connect"),
      page("/channels", () => import("./pages/channels/channels.tsx"), "Channels"),
      page("/channels/:id", () => import("./pages/channels/channel.tsx"), "Channel"),
      page("/dead-letters", () => import("./pages/dead-letters/dead-letters.tsx"), "DeadLetters"),
      { path: "*", element: <NotFound /> },
    ],
  },
]);
