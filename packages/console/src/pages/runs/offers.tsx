import { useState } from "react";
import type { HandoffOffer, RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useLoad } from "../../data/use-load.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { TextField } from "../../ui/field.tsx";
import { Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { Who } from "../../ui/who.tsx";
import type { Step } from "./step.ts";

interface Props {
  run: RunWithAttempts;
  step: Step;
  reload(): Promise<void>;
}

const TONE = { open: "warn", accepted: "good", declined: "bad" } as const;

/** Offers the step's result to the next assignee, if the step completes by acceptance. */
export function Offers({ run, step, reload }: Props) {
  const offers = useLoad(
    (signal) => api.runs.listOffers({ run_id: run.id }, { signal }),
    [run.id, run.updated_at],
  );
  const own = (offers.data?.offers ?? []).filter(({ step_key }) => step_key === step.step_key);
  const offerable =
    step.completion_mode === "handoff_accepted" && ["ready", "in_progress"].includes(step.status);
  if (!offers.data && offers.error !== undefined && step.completion_mode === "handoff_accepted")
    return <Failure error={offers.error} retry={offers.reload} />;
  if (own.length === 0 && !offerable) return null;
  return (
    <section className="stack tight">
      <h3>Handoff</h3>
      {own.map((offer) => (
        <div key={offer.id} className="offer">
          <p className="grow">
            <strong>
              <Who id={offer.offered_by.actor_id} />
            </strong>{" "}
            offered it <Time at={offer.created_at} />
            {offer.note && <span className="muted">: {offer.note}</span>}
          </p>
          {offer.status === "open" && run.status !== "closed" ? (
            <Decide run={run} step={step} offer={offer} reload={reload} />
          ) : (
            <Badge label={capitalised(offer.status)} tone={TONE[offer.status]} />
          )}
        </div>
      ))}
      {offerable && !own.some(({ status }) => status === "open") && (
        <Make run={run} step={step} reload={reload} />
      )}
    </section>
  );
}

function Decide({ run, step, offer, reload }: Props & { offer: HandoffOffer }) {
  const { user } = useSession();
  const isOwn = offer.offered_by.actor_id === user.id;
  const next = run.steps.filter(({ depends_on }) => depends_on.includes(step.step_key));
  // The accepter continues with a next step, which must be theirs or unassigned.
  const isOthers =
    next.length > 0 &&
    next.every(({ assigned_user_id }) => assigned_user_id !== null && assigned_user_id !== user.id);
  const which = { run_id: run.id, offer_id: offer.id };
  const accept = useTask(async () => {
    await api.runs.acceptOffer(which);
    toast({ title: "Accepted. The step is completed." });
    await reload();
  });
  const decline = useTask(async () => {
    await api.runs.declineOffer(which);
    toast({ title: isOwn ? "Withdrawn." : "Declined." });
    await reload();
  });
  return (
    <span className="row">
      <Button
        label={isOwn ? "Withdraw" : "Decline"}
        small
        busy={decline.busy}
        onClick={() => decline.run()}
      />
      {isOwn || isOthers ? (
        <span className="muted small">
          {isOthers ? "Waiting for the next assignee" : "Someone else must accept your offer"}
        </span>
      ) : (
        <Button label="Accept" small kind="primary" busy={accept.busy} onClick={() => accept.run()} />
      )}
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
    toast({ title: "Offered. The step is completed when someone accepts." });
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
        <TextField label="Note for the next assignee" value={note} onChange={setNote} />
      </div>
      <Button label="Offer handoff" type="submit" busy={offer.busy} />
    </form>
  );
}
