import { Link } from "react-router";
import type { OnboardingGuidance } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import type { Action } from "../../data/may.ts";
import { type Loaded, useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { CircleCheck, CircleDashed } from "../../ui/icons.tsx";
import { Card } from "../../ui/page.tsx";
import { useTask } from "../../ui/task.tsx";
import { Code } from "../../ui/text.tsx";
import "./overview.css";

type Step = OnboardingGuidance["steps"][number]["key"];

interface Way {
  text: string;
  to: string;
  /** The operation needed; the link is hidden without it. */
  needs?: Action;
}

const STEPS: Record<Step, Way> = {
  connect_agent: { text: "Connect an agent", to: "/agents", needs: "agents.create" },
  declare_interest: { text: "Add an interest", to: "/agents", needs: "agents.list" },
  publish_event: { text: "Publish an event", to: "/events?publish=1" },
  acknowledge_delivery: { text: "Acknowledge a delivery", to: "/events" },
  create_memory: { text: "Create a memory", to: "/memories" },
  search_memory: { text: "Search memories", to: "/memories" },
  save_handoff: { text: "Save a handoff", to: "/docs#/handoffs/saveHandoff" },
  complete_run: { text: "Complete a run", to: "/runs" },
};

export const useGuidance = () =>
  useRead(api.onboarding.get, {}, ["interest", "event", "memory", "run"], { pauseMs: 3000 });

export const openSteps = ({ steps }: OnboardingGuidance): Step[] =>
  steps.filter(({ status }) => status !== "done").map(({ key }) => key);

const CLI = "node packages/client/bin.js";

/** As in the README. */
export const COMMANDS: { step: Step; title: string; text: string }[] = [
  {
    step: "declare_interest",
    title: "Subscribe to events",
    text: `export DATA_DIR="\${DATA_DIR:-$PWD/data}"\n${CLI} interest add 'com.example.order.*'`,
  },
  {
    step: "publish_event",
    title: "Publish one",
    text: `${CLI} publish com.example.order.placed '{"total": 120}' --subject order-1`,
  },
  { step: "acknowledge_delivery", title: "Receive it", text: `${CLI} listen --count 1` },
];

/** On a new server, instead of an empty chart: the commands that fill it, each marked as it is run. */
export function FirstCommands({ open }: { open: readonly Step[] }) {
  return (
    <Card title="Your first event, in three commands">
      <div className="stack">
        <p className="muted">Run them in a second shell, in the folder of the server.</p>
        <ol className="first-commands">
          {COMMANDS.map(({ step, title, text }) => (
            <li key={step} className={open.includes(step) ? "" : "done"}>
              <p className="row">
                <Mark isDone={!open.includes(step)} />
                {title}
              </p>
              <Code text={text} label={`command: ${title}`} />
            </li>
          ))}
        </ol>
      </div>
    </Card>
  );
}

const Mark = ({ isDone }: { isDone: boolean }) =>
  isDone ? <CircleCheck aria-label="Done" size={16} /> : <CircleDashed aria-label="To do" size={16} />;

/** The next steps to try, until all are complete or the guidance is dismissed. */
export function FirstSteps({ guidance }: { guidance: Loaded<OnboardingGuidance> }) {
  const dismiss = useTask(() => api.onboarding.dismiss());
  const { data } = guidance;
  // Guidance is optional: ignore a failure to load it.
  if (!data || data.all_complete || data.dismissed_at) return null;
  return (
    <Card
      title={`First steps: ${data.completed_steps} of ${data.total_steps}`}
      actions={
        <Button label="Dismiss" small kind="quiet" busy={dismiss.busy} onClick={() => dismiss.run()} />
      }
    >
      <ol className="first-steps">
        {data.steps.map(({ key, status }) => (
          <li key={key} className={status}>
            <Mark isDone={status === "done"} />
            {status === "done" ? <span>{STEPS[key].text}</span> : <WayTo {...STEPS[key]} />}
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** The reference is outside the console, and some steps are for admins. */
function WayTo({ text, to, needs }: Way) {
  const { may } = useSession();
  if (needs && !may(needs)) return <span title="Only admins can do this">{text}</span>;
  return to.startsWith("/docs") ? <a href={to}>{text}</a> : <Link to={to}>{text}</Link>;
}
