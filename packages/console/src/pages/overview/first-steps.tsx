import { Link } from "react-router";
import type { OnboardingGuidance } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import type { Action } from "../../data/may.ts";
import { type Loaded, useLoad } from "../../data/use-load.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { CircleCheck, CircleDashed } from "../../ui/icons.tsx";
import { Card } from "../../ui/page.tsx";

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
  save_handoff: { text: "Save a handoff", to: "/docs#/handoffs/handoffs.save" },
  complete_run: { text: "Complete a run", to: "/runs" },
};

export const useGuidance = () => useLoad((signal) => api.onboarding.get({}, { signal }), []);

/** The next steps to try, until all are complete or the guidance is dismissed. */
export function FirstSteps({ guidance }: { guidance: Loaded<OnboardingGuidance> }) {
  const dismiss = useTask(async () => guidance.set(await api.onboarding.dismiss()));
  const { data } = guidance;
  // Guidance is optional: ignore a failure to load it.
  if (!data || data.all_complete || data.dismissed_at) return null;
  return (
    <Card
      title={`First steps: ${data.completed_steps} of ${data.total_steps}`}
      actions={
        <Button small kind="quiet" busy={dismiss.busy} onClick={() => dismiss.run()}>
          Dismiss
        </Button>
      }
    >
      <ol className="first-steps">
        {data.steps.map(({ key, status }) => (
          <li key={key} className={status}>
            {status === "done" ? (
              <CircleCheck aria-label="Done" size={16} />
            ) : (
              <CircleDashed aria-label="To do" size={16} />
            )}
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
