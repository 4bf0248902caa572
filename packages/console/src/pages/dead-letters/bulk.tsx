import { useState } from "react";
import type { DeliveriesReplayManyParams } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number, plural } from "../../data/format.ts";
import { useNames } from "../../data/names.ts";
import { useLoad } from "../../data/queries.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Load } from "../../ui/table.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";

export type BulkAction = "replay" | "discard";

/** The named letters, or all that match a filter. */
export type Wanted = Omit<DeliveriesReplayManyParams, "dry_run">;

interface Plan {
  count: number;
  /** More letters than one call changes. */
  more: boolean;
  /** The receivers of a single letter that is replayed. */
  receivers?: string[] | undefined;
}

interface Props {
  action: BulkAction;
  wanted: Wanted;
  onClose(): void;
  onDone(): void;
}

const CALLS = { replay: api.deliveries.replayMany, discard: api.deliveries.discardMany };
const WORDS = {
  replay: { title: "Replay dead letters", submit: "Replay", done: "replayed" },
  discard: { title: "Discard dead letters", submit: "Discard", done: "discarded" },
};

/** Previews the effect of a replay or discard, then runs it. */
export function Bulk({ action, wanted, onClose, onDone }: Props) {
  const plan = useLoad(() => planOf(action, wanted), []);
  const [passed, setPassed] = useState(0);
  const { title, submit, done } = WORDS[action];
  const run = useFormTask(async () => {
    const count = await changeAll(action, wanted, setPassed);
    toast({ title: `${plural(count, "dead letter")} ${done}.` });
    onDone();
  });
  const count = plan.data?.count ?? 0;
  return (
    <FormDialog
      title={title}
      submit={run.busy && passed > 0 ? `${number(passed)} ${done}` : submit}
      onClose={onClose}
      task={run}
      disabled={count === 0}
      danger={action === "discard"}
    >
      <Load of={plan} lines={2}>
        {(loaded) => (action === "replay" ? <ReplayPlan {...loaded} /> : <DiscardPlan {...loaded} />)}
      </Load>
    </FormDialog>
  );
}

const Count = ({ count, more }: Plan) => (
  <strong>
    {plural(count, "dead letter")}
    {more && " and more"}
  </strong>
);

function ReplayPlan(plan: Plan) {
  const { receivers } = plan;
  const nameOf = useNames(receivers ?? []);
  return (
    <div className="stack tight">
      <p>
        <Count {...plan} /> will be matched against interests and feeds again.
      </p>
      {receivers && (
        <p>
          {receivers.length === 0
            ? "No receivers: no interest or feed matches it now."
            : `Receivers: ${receivers.map(nameOf).join(", ")}.`}
        </p>
      )}
      <p className="muted">
        The failed receiver gets a new retry budget if it still matches. Agents that match now and have not
        received the event receive it too; others do not receive it again. Unmapped input is mapped with the
        current mapping.
      </p>
    </div>
  );
}

function DiscardPlan(plan: Plan) {
  return (
    <div className="stack tight">
      <p>
        <Count {...plan} /> will be discarded.
      </p>
      <p className="muted">
        They can no longer be replayed. Their events are kept until the retention ends. This cannot be undone.
      </p>
    </div>
  );
}

async function planOf(action: BulkAction, wanted: Wanted): Promise<Plan> {
  const [only, ...others] = wanted.ids ?? [];
  if (action === "replay" && only !== undefined && others.length === 0) {
    const { receivers } = await api.deliveries.replay({ id: only, dry_run: true });
    return { count: 1, more: false, receivers };
  }
  const plans = await Promise.all(inParts(wanted).map((part) => CALLS[action]({ ...part, dry_run: true })));
  return { count: plans.reduce((sum, { count }) => sum + count, 0), more: plans.some(({ more }) => more) };
}

/** One call changes a limited number, so repeat until none is left. Returns how many it changed. */
export async function changeAll(
  action: BulkAction,
  wanted: Wanted,
  onPassed?: (count: number) => void,
): Promise<number> {
  let passed = 0;
  for (const part of inParts(wanted)) {
    for (let hasMore = true; hasMore; ) {
      const { count, more } = await CALLS[action](part);
      passed += count;
      onPassed?.(passed);
      hasMore = more && count > 0;
    }
  }
  return passed;
}

const MAX_IDS = 1000;

/** Splits a request with more ids than one call takes. */
function inParts(wanted: Wanted): Wanted[] {
  const { ids } = wanted;
  if (!ids) return [wanted];
  const count = Math.ceil(ids.length / MAX_IDS);
  return Array.from({ length: count }, (_, i) => ({ ids: ids.slice(i * MAX_IDS, (i + 1) * MAX_IDS) }));
}
