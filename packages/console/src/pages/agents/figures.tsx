import { Link } from "react-router";
import type { Agent, DeliveryHealth } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { compact, duration, number, percent, relative } from "../../data/format.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Time } from "../../ui/text.tsx";
import { Tile } from "../../ui/tile.tsx";
import { toast } from "../../ui/toast.tsx";
import { needsAttention } from "./health.tsx";

interface Props {
  agent: Agent;
  health: DeliveryHealth;
  onDone(): Promise<void>;
}

/** An agent's figures, and why it needs attention, if it does. */
export function Figures({ agent, health, onDone }: Props) {
  const { pending, in_flight, waiting, oldest_age_seconds, dead, last_seen_at, last_error } = health;
  const { last_acknowledged_at } = health;
  const bad = needsAttention(health);
  return (
    <>
      {bad && <Attention agent={agent} health={health} onDone={onDone} />}
      <div className="tiles">
        <Tile
          name="Pending"
          value={compact(pending)}
          note={`${number(in_flight)} in flight, ${number(waiting)} waiting to retry`}
        />
        <Tile
          name="Oldest pending"
          value={oldest_age_seconds === null ? "–" : duration(oldest_age_seconds)}
          note={
            last_acknowledged_at ? `acknowledged ${relative(last_acknowledged_at)}` : "nothing acknowledged"
          }
          tone={health.state === "stuck" ? "bad" : health.state === "behind" ? "warn" : undefined}
        />
        <Tile
          name="Dead letters"
          value={compact(dead)}
          note={<Link to={`/dead-letters?agent_id=${agent.id}`}>Show dead letters</Link>}
          tone={dead > 0 ? "bad" : undefined}
        />
        <Tile name="Success rate" value={percent(health.success_rate)} note="of attempts in 24 h" />
        <Tile
          name="Last seen"
          value={last_seen_at ? relative(last_seen_at) : "Never"}
          note={agent.delivery_mode === "push" ? "endpoint or API key" : "use of an API key"}
        />
      </div>
      {last_error && (
        <p className="small last-error">
          <span className="muted">
            Last error <Time at={last_error.at} />:
          </span>{" "}
          {last_error.reason}
        </p>
      )}
    </>
  );
}

function Attention({ agent, health, onDone }: Props) {
  const { may } = useSession();
  const unreachable = health.state === "unreachable";
  const retry = useTask(async () => {
    // Saving the endpoint, even the same, makes the server try it at once.
    await api.agents.update({ agent_id: agent.id, delivery_endpoint: agent.delivery_endpoint });
    toast({ title: "Trying the endpoint now." });
    await onDone();
  });
  return (
    <div className={`notice ${health.state === "behind" ? "warn" : "bad"} attention`} role="status">
      <div className="grow">
        <p>{health.reason}</p>
        {unreachable && <p className="small break">{agent.delivery_endpoint}</p>}
      </div>
      {unreachable && may("agents.update") && (
        <div className="row">
          <ButtonLink small to="?tab=settings">
            Change endpoint
          </ButtonLink>
          <Button small kind="primary" busy={retry.busy} onClick={() => retry.run()}>
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}
