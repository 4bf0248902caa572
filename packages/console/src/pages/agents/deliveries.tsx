import { useState } from "react";
import type { Agent, AgentDelivery } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number, plural } from "../../data/format.ts";
import { useAddress } from "../../data/use-address.ts";
import { useList } from "../../data/use-list.ts";
import { DeliveryChart } from "../../traffic/delivery-chart.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Segments } from "../../ui/field.tsx";
import { Inbox } from "../../ui/icons.tsx";
import { Empty } from "../../ui/page.tsx";
import { type Column, List, Titled } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { DeliveryState } from "../events/state.tsx";
import { Timeline } from "../events/timeline.tsx";
import { Figures } from "./figures.tsx";
import { HEALTH } from "./health.tsx";
import { Remedies } from "./remedies.tsx";
import "./agents.css";

const SHOWN = [
  { value: "all", label: "All" },
  { value: "pending", label: "Pending" },
  { value: "acknowledged", label: "Acknowledged" },
  { value: "dead", label: "Dead" },
] as const;
type Shown = (typeof SHOWN)[number]["value"];

interface Props {
  agent: Agent;
  reload(): Promise<void>;
}

/** How an agent's deliveries go, the latest of them, and what a person can do about it. */
export function Deliveries({ agent, reload }: Props) {
  const [search, change] = useAddress();
  const [opened, setOpened] = useState<AgentDelivery>();
  const shown = SHOWN.find(({ value }) => value === search.get("status"))?.value ?? "all";
  const status = shown === "all" ? {} : { status: shown };
  const of = { agent_id: agent.id, limit: 25, ...status };
  const list = useList(api.deliveries.list, of, "deliveries", HEALTH);
  const done = async () => {
    await Promise.all([reload(), list.reload()]);
  };
  const { delivery } = agent;
  return (
    <div className="stack">
      {delivery && <Figures agent={agent} health={delivery} onDone={done} />}
      <DeliveryChart agentId={agent.id} />
      <div className="list-bar">
        <Segments<Shown>
          label="Deliveries"
          value={shown}
          options={SHOWN}
          onChange={(value) => change({ status: value === "all" ? null : value })}
        />
        {delivery && <Remedies agent={agent} health={delivery} onDone={done} />}
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
          <Timeline entries={[{ at: opened.created_at, what: "matched" }, ...opened.timeline]} />
        </Dialog>
      )}
    </div>
  );
}

const columnsOf = (open: (delivery: AgentDelivery) => void): Column<AgentDelivery>[] => [
  {
    name: "Event",
    cell: ({ event }) =>
      event ? (
        <Titled to={`/events/${event.event_id}`} title={event.type}>
          {event.subject ?? event.source}
        </Titled>
      ) : (
        <span className="faint">No longer kept</span>
      ),
  },
  {
    name: "Status",
    cell: ({ status, last_error }) => (
      <div className="health">
        <span>
          <DeliveryState state={status === "in_flight" ? "leased" : status} />
        </span>
        {last_error && status !== "acknowledged" && <span className="muted small">{last_error.reason}</span>}
      </div>
    ),
  },
  {
    name: "Attempts",
    end: true,
    cell: (delivery) => (
      <button
        type="button"
        className="link"
        onClick={() => open(delivery)}
        aria-label={`${plural(delivery.attempt_count, "attempt")}: ${delivery.event?.type ?? delivery.id}`}
      >
        {number(delivery.attempt_count)}
      </button>
    ),
  },
  {
    name: "Next attempt",
    end: true,
    wideOnly: true,
    cell: ({ next_attempt_at }) =>
      next_attempt_at ? <Time at={next_attempt_at} /> : <span className="faint">–</span>,
  },
  { name: "Matched", end: true, cell: ({ created_at }) => <Time at={created_at} /> },
];
