import { useState } from "react";
import type { HandoffOffer, RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useNames } from "../../data/names.ts";
import { useLoad } from "../../data/use-load.ts";
import { useTask } from "../../data/use-task.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import type { Step } from "./step-panel.tsx";

interface Props {
  run: RunWithAttempts;
  step: Step;
  reload(): Promise<void>;
}

const TONE = { open: "warn", accepted: "good", declined: "bad" } as const;

/** The step's result, offered to whoever does a next one, where that is how it completes. */
export function Offers({ run, step, reload }: Props) {
  const offers = useLoad(
    (signal) => api.runs.listOffers({ run_id: run.id }, { signal }),
    [run.id, run.updated_at],
  );
  const nameOf = useNames();
  const own = (offers.data?.offers ?? []).filter(({ step_key }) => step_key === step.step_key);
  const offerable =
    step.completion_mode === "handoff_accepted" && ["ready", "in_progress"].includes(step.status);
  if (own.length === 0 && !offerable) return null;
  return (
    <section className="stack tight">
      <h3>Hand-off</h3>
      {own.map((offer) => (
        <div key={offer.id} className="offer">
          <p className="grow">
            <strong>{nameOf(offer.offered_by.actor_id)}</strong> offered it <Time at={offer.created_at} />
            {offer.note && <span className="muted">: {offer.note}</span>}
          </p>
          {offer.status === "open" && run.status !== "closed" ? (
            <Decide run={run} offer={offer} reload={reload} />
          ) : (
            <Badge tone={TONE[offer.status]}>{offer.status}</Badge>
          )}
        </div>
      ))}
      {offerable && !own.some(({ status }) => status === "open") && (
        <Make run={run} step={step} reload={reload} />
      )}
    </section>
  );
}

function Decide({
  run,
  offer,
  reload,
}: {
  run: RunWithAttempts;
  offer: HandoffOffer;
  reload(): Promise<void>;
}) {
  const which = { run_id: run.id, offer_id: offer.id };
  const accept = useTask(async () => {
    await api.runs.acceptOffer(which);
    toast({ title: "Accepted: the step is completed." });
    await reload();
  });
  const decline = useTask(async () => {
    await api.runs.declineOffer(which);
    toast({ title: "Declined." });
    await reload();
  });
  return (
    <span className="row">
      <Button small busy={decline.busy} onClick={() => decline.run()}>
        Decline
      </Button>
      <Button small kind="primary" busy={accept.busy} onClick={() => accept.run()}>
        Accept
      </Button>
    </span>
  );
}

function Make({ run, step, reload }: Props) {
  const [note, setNote] = useState("");
  const offer = useTask(async () => {
    await api.runs.offerHandoff({
      run_id: run.id,
      step_key: step.step_key,
      ...(note.trim() && { note: note.trim() }),
    });
    toast({ title: "Offered. The step completes when somebody accepts it." });
    await reload();
  });
  return (
    <form
      className="row end-fields"
      onSubmit={(event) => {
        event.preventDefault();
        void offer.run();
      }}
    >
      <div className="grow">
        <TextField label="Note for whoever takes over" value={note} onChange={setNote} />
      </div>
      <Button type="submit" busy={offer.busy}>
        Offer the result
      </Button>
    </form>
  );
}
