import { useState } from "react";
import { api } from "../../data/api.ts";
import { plural } from "../../data/format.ts";
import { useLoad } from "../../data/use-load.ts";
import { useNames } from "../../data/use-names.ts";
import { useFormTask } from "../../data/use-task.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Load } from "../../ui/table.tsx";
import { toast } from "../../ui/toast.tsx";

/** The named letters, or all of a reason. */
export type Wanted = { ids: string[] } | { reason: string };

interface Plan {
  count: number;
  /** More letters than one call replays. */
  more: boolean;
  /** The receivers of a single letter. */
  receivers?: string[] | undefined;
}

interface Props {
  wanted: Wanted;
  onClose(): void;
  onDone(): unknown;
}

/** Previews the effect of a replay, then runs it. */
export function Replay({ wanted, onClose, onDone }: Props) {
  const nameOf = useNames();
  const plan = useLoad(() => planOf(wanted), []);
  const [passed, setPassed] = useState(0);
  const replay = useFormTask(async () => {
    const count = await replayAll(wanted, setPassed);
    toast({ title: `${plural(count, "dead letter")} replayed.` });
    await onDone();
  });
  const count = plan.data?.count ?? 0;
  return (
    <FormDialog
      title="Replay dead letters"
      submit={replay.busy && passed > 0 ? `${passed} replayed` : "Replay"}
      onClose={onClose}
      task={replay}
      disabled={count === 0}
    >
      <Load of={plan} lines={2}>
        {({ more, receivers }) => (
          <div className="stack tight">
            <p>
              <strong>
                {plural(count, "dead letter")}
                {more && " and more"}
              </strong>{" "}
              will be matched against interests and feeds again.
            </p>
            {receivers && (
              <p>
                {receivers.length === 0
                  ? "No receivers: no interest or feed matches it now."
                  : `Receivers: ${receivers.map(nameOf).join(", ")}.`}
              </p>
            )}
            <p className="muted">
              The failed receiver gets a new retry budget if it still matches. Agents that match now and have
              not received the event receive it too; others do not receive it again. Unmapped input is mapped
              with the current mapping.
            </p>
          </div>
        )}
      </Load>
    </FormDialog>
  );
}

async function planOf(wanted: Wanted): Promise<Plan> {
  const [only, ...others] = "ids" in wanted ? wanted.ids : [];
  if (only !== undefined && others.length === 0) {
    const { receivers } = await api.deliveries.replay({ id: only, dry_run: true });
    return { count: 1, more: false, receivers };
  }
  const { count, more } = await api.deliveries.replayMany({ ...wanted, dry_run: true });
  return { count, more };
}

/** One call replays a limited number, so repeat until none is left. */
async function replayAll(wanted: Wanted, onPassed: (count: number) => void): Promise<number> {
  let passed = 0;
  for (;;) {
    const { count, more } = await api.deliveries.replayMany(wanted);
    passed += count;
    onPassed(passed);
    if (!more || count === 0) return passed;
  }
}
