import { useState } from "react";
import type { Agent, Replay } from "../../../../client/index.ts";
import { api, serverNow } from "../../data/api.ts";
import { filled, number as formatted, plural } from "../../data/format.ts";
import { useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { DialogButton } from "../../ui/button.tsx";
import { check, number, select, time, useForm } from "../../ui/form.tsx";
import { ActButton, FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { History } from "../../ui/icons.tsx";
import { useSaving } from "../../ui/task.tsx";
import { Time } from "../../ui/text.tsx";

const DAY_MS = 86_400_000;
const WAITS: Record<NonNullable<Replay["waiting_for"]>, string> = {
  inactive: "until the agent is active",
  pending: "until the agent has acknowledged some of its pending deliveries",
  storage_quota: "until the organisation is below its storage quota",
  error: "to try again",
};

/** The last replay of past events to an agent with its progress, and a button that starts one. */
export function Replays({ agent }: { agent: Agent }) {
  const { may } = useSession();
  const of = { agent_id: agent.id };
  const list = useRead(api.deliveries.replays, { ...of, limit: 1 }, ["event", "clock"], { name: "replays" });
  const last = list.data?.replays[0];
  const isRunning = last?.state === "running";
  return (
    <div className="row">
      {last && <Progress replay={last} />}
      {isRunning && may("deliveries.cancelReplay") && (
        <ActButton
          label="Cancel replay"
          small
          act={() => api.deliveries.cancelReplay({ ...of, replay_id: last.id })}
          done="Replay cancelled. Its deliveries stay."
        />
      )}
      {list.data && !isRunning && may("deliveries.startReplay") && (
        <DialogButton
          label="Replay history"
          icon={History}
          dialog={(onClose) => <ReplayForm agent={agent} onClose={onClose} />}
        />
      )}
    </div>
  );
}

function Progress({ replay }: { replay: Replay }) {
  const { state, matched, delivered, reached, waiting_for, error, ended_at } = replay;
  return (
    <p className="small muted" role="status">
      Replay {state}: {formatted(delivered)} delivered of {formatted(matched)} matching
      {state === "running" && reached && (
        <>
          , reached <Time at={reached} />
        </>
      )}
      {ended_at && (
        <>
          , <Time at={ended_at} />
        </>
      )}
      .{waiting_for && ` Waits ${WAITS[waiting_for]}.`}
      {error && ` ${error}`}
    </p>
  );
}

const ALL = { value: "", label: "All interests and feeds" };

const FIELDS = {
  from: time("From", { required: true }),
  until: time("Until", { hint: "Default: now." }),
  interest_id: select("Interest", [ALL]),
  per_minute: number("Maximum deliveries per minute", { min: 1, max: 30_000, required: true }),
  again: check(
    "Deliver again",
    "Also events that the agent has acknowledged, or that were dead-lettered or discarded.",
  ),
};

/** Counts what a replay would deliver, then starts it. */
function ReplayForm({ agent, onClose }: SavingProps & { agent: Agent }) {
  const agent_id = agent.id;
  const yesterday = new Date(serverNow() - DAY_MS).toISOString();
  const form = useForm(FIELDS, { from: yesterday, per_minute: 600 });
  const [counted, setCounted] = useState<{ of: string; text: string }>();
  const interests = useRead(api.interests.list, { agent_id, limit: 200 });
  const { per_minute, from, again, ...optional } = form.values();
  const wanted = { agent_id, again, from: from ?? "", ...filled(optional) };
  // A count is shown, and the replay can start, as long as the fields are those that were counted.
  const of = JSON.stringify(wanted);
  const isCounted = counted?.of === of;
  const task = useSaving(onClose, async () => {
    if (isCounted) {
      await api.deliveries.startReplay({ ...wanted, ...filled({ per_minute }) });
      return "Replay started.";
    }
    const { deliverable, matched, more } = await api.deliveries.countReplay(wanted);
    const least = more ? "At least " : "";
    setCounted({
      of,
      text: `${least}${plural(deliverable, "delivery", "deliveries")}, of ${plural(matched, "matching event")}.`,
    });
    return false;
  });
  const choices = interests.data?.interests.map(({ id, event_type: type, filter_expression: filter }) => ({
    value: id,
    label: filter ? `${type} where ${filter}` : type,
  }));
  return (
    <FormDialog
      title="Replay history"
      submit={isCounted ? "Start replay" : "Count"}
      onClose={onClose}
      task={task}
    >
      <p className="muted">
        Past events that match the interests and feeds of {agent.name} as they are now are delivered in their
        order. New events are delivered meanwhile.
      </p>
      <div className="grid-2">
        {form.rows("from", "until")}
        {form.show("interest_id", { options: [ALL, ...(choices ?? [])] })}
        {form.show("per_minute")}
      </div>
      {form.show("again")}
      {isCounted && (
        <p role="status">
          <strong>{counted.text}</strong>
        </p>
      )}
    </FormDialog>
  );
}
