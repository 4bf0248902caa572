import { useState } from "react";
import { Link } from "react-router";
import type { Agent, AgentDelivery, DeliveryHealth } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { compact, duration, number, percent, plural } from "../../data/format.ts";
import { useList } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { useAddress } from "../../data/use-address.ts";
import { DeliveryChart } from "../../traffic/delivery-chart.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { optionsOf } from "../../ui/field.tsx";
import { SegmentsFilter } from "../../ui/filters.tsx";
import { ActButton } from "../../ui/form-dialog.tsx";
import { Inbox, RotateCw, Trash2 } from "../../ui/icons.tsx";
import { Empty } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, Titled, wideEndColumn } from "../../ui/table.tsx";
import { Tile, Time } from "../../ui/text.tsx";
import { changeAll } from "../dead-letters/bulk.tsx";
import { DeliveryLog } from "../events/log.tsx";
import { DeliveryState, Timeline } from "../events/timeline.tsx";
import { HEALTH, needsAttention } from "./health.tsx";
import { Replays } from "./replays.tsx";
import "./agents.css";

const SHOWN = ["all", "pending", "acknowledged", "dead"] as const;

/** How an agent's deliveries go, the latest of them, and what a person can do about it. */
export function Deliveries({ agent }: { agent: Agent }) {
  const [search] = useAddress();
  const [opened, setOpened] = useState<AgentDelivery>();
  const shown = SHOWN.find((each) => each === search.get("status")) ?? "all";
  const status = shown === "all" ? {} : { status: shown };
  const of = { agent_id: agent.id, limit: 25, ...status };
  const list = useList(api.deliveries.list, of, "deliveries", HEALTH);
  const { delivery } = agent;
  return (
    <div className="stack">
      {delivery && <Figures agent={agent} health={delivery} />}
      <DeliveryChart agentId={agent.id} />
      <Replays agent={agent} />
      <div className="list-bar">
        <SegmentsFilter name="status" label="Deliveries" options={optionsOf(SHOWN)} />
        {delivery && <Remedies agent={agent} health={delivery} />}
      </div>
      <List
        pages={list}
        label="Deliveries"
        columns={columnsOf(setOpened)}
        empty={
          <Empty icon={Inbox} title={shown === "all" ? "No deliveries yet" : "No such deliveries"}>
            An event that matches an interest of {agent.name} becomes a delivery.
          </Empty>
        }
      />
      {opened && (
        <Dialog light title="Attempts" onClose={() => setOpened(undefined)} done="Close">
          <div className="stack">
            <Timeline entries={[{ at: opened.created_at, what: "matched" }, ...opened.timeline]} />
            <DeliveryLog agent_id={agent.id} delivery_id={opened.id} />
          </div>
        </Dialog>
      )}
    </div>
  );
}

const columnsOf = (open: (delivery: AgentDelivery) => void): Column<AgentDelivery>[] => [
  column("Event", ({ event }) =>
    event ? (
      <Titled to={`/events/${event.event_id}`} title={event.type}>
        <span className="clipped" title={event.subject ?? event.source}>
          {event.subject ?? event.source}
        </span>
      </Titled>
    ) : (
      <span className="faint">No longer kept</span>
    ),
  ),
  column("Status", ({ status, last_error }) => (
    <div className="health">
      <span>
        <DeliveryState state={status === "in_flight" ? "leased" : status} />
      </span>
      {last_error && status !== "acknowledged" && <span className="muted small">{last_error.reason}</span>}
    </div>
  )),
  endColumn("Attempts", (delivery) => (
    <button
      type="button"
      className="link"
      onClick={() => open(delivery)}
      aria-label={`${plural(delivery.attempt_count, "attempt")}: ${delivery.event?.type ?? delivery.id}`}
    >
      {number(delivery.attempt_count)}
    </button>
  )),
  wideEndColumn("Next attempt", ({ next_attempt_at }) => <Time at={next_attempt_at} />),
  endColumn("Matched", ({ created_at }) => <Time at={created_at} />),
];

interface QueueProps {
  agent: Agent;
  health: DeliveryHealth;
}

/** Actions on an agent's queue: replay its dead letters, discard what waits. */
function Remedies({ agent, health }: QueueProps) {
  const { may } = useSession();
  const waits = health.pending - health.in_flight;
  return (
    <div className="row">
      {health.dead > 0 && may("deliveries.replayMany") && (
        <ActButton
          label={`Replay ${plural(health.dead, "dead letter")}`}
          icon={RotateCw}
          title={`Replay ${plural(health.dead, "dead letter")} of ${agent.name}?`}
          text="They are matched against interests and feeds again. If the agent still matches, it gets them with a new retry budget; matching agents that never received an event get it too."
          action={`Replay ${number(health.dead)}`}
          danger={false}
          act={() => changeAll("replay", { agent_id: agent.id })}
          done={(replayed) => `${plural(replayed, "dead letter")} replayed.`}
        />
      )}
      {waits > 0 && (
        <ActButton
          label={`Drain ${number(waits)} pending`}
          icon={Trash2}
          title={`Discard ${pending(waits)}?`}
          text={`${agent.name} will never receive them, also not by a replay. ${kept(health)} This cannot be undone.`}
          action={`Discard ${number(waits)}`}
          act={() => drainAll(agent.id)}
          done={(discarded) => `${pending(discarded)} discarded.`}
        />
      )}
    </div>
  );
}

const pending = (count: number) => plural(count, "pending delivery", "pending deliveries");

function kept({ in_flight, dead }: DeliveryHealth): string {
  const parts = [
    in_flight > 0 && `${number(in_flight)} in flight`,
    dead > 0 && plural(dead, "dead letter"),
  ].filter((part) => part !== false);
  return parts.length ? `Kept: ${parts.join(" and ")}.` : "";
}

/** One request discards a limited number, so repeat until none is left of those from before the first. */
async function drainAll(agent_id: string): Promise<number> {
  let total = 0;
  let from: { before?: string } = {};
  for (;;) {
    const { discarded, before, more } = await api.deliveries.drain({ agent_id, ...from });
    total += discarded;
    if (!more) return total;
    from = { before };
  }
}

/** An agent's figures, and why it needs attention, if it does. */
function Figures({ agent, health }: QueueProps) {
  const { pending, in_flight, waiting, oldest_age_seconds, dead, last_seen_at, last_error } = health;
  const { last_acknowledged_at } = health;
  const bad = needsAttention(health);
  return (
    <>
      {bad && <Attention agent={agent} health={health} />}
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
            last_acknowledged_at ? (
              <>
                acknowledged <Time at={last_acknowledged_at} />
              </>
            ) : (
              "nothing acknowledged"
            )
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
          value={last_seen_at ? <Time at={last_seen_at} /> : "Never"}
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

function Attention({ agent, health }: QueueProps) {
  const { may } = useSession();
  const unreachable = health.state === "unreachable";
  return (
    <div className={`notice ${health.state === "behind" ? "warn" : "bad"} attention`} role="status">
      <div className="grow">
        <p>{health.reason}</p>
        {unreachable && <p className="small break">{agent.delivery_endpoint}</p>}
      </div>
      {unreachable && may("agents.update") && (
        <div className="row">
          <ButtonLink label="Change endpoint" small to="?tab=settings" />
          {/* Saving the endpoint, even the same, makes the server try it at once. */}
          <ActButton
            label="Try now"
            small
            kind="primary"
            act={() => api.agents.update({ agent_id: agent.id, delivery_endpoint: agent.delivery_endpoint })}
            done="Trying the endpoint now."
          />
        </div>
      )}
    </div>
  );
}
