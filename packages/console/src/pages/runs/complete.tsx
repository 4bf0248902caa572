import { useState } from "react";
import type { HandoffOffer, RunsCompleteStepParams } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes, capitalised, filled } from "../../data/format.ts";
import { useRead } from "../../data/queries.ts";
import { base64 } from "../../data/save-file.ts";
import { useSession } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CheckField, FileField } from "../../ui/field.tsx";
import { area, text, useForm } from "../../ui/form.tsx";
import { ActButton, FormDialog } from "../../ui/form-dialog.tsx";
import { submitting, toast, useSaving, useTask } from "../../ui/task.tsx";
import { Badge, Time, Who } from "../../ui/text.tsx";
import type { StepProps } from "./words.tsx";
import "../../styles/choice.css";

/** Limit of a request's evidence, in base64 (runs.complete_step). */
const MAX_EVIDENCE = 4 * 1_048_576;

const DONE = {
  what_makes_this_done: area("What was done", { rows: 3, hint: "Shown in the retrospective." }),
};

/** Completes a step, or attests those of its criteria that are met. */
export function CompleteDialog({ run, step, onClose }: StepProps & { onClose(): void }) {
  const open = step.completion_criteria.filter(({ key }) => !step.attested_criteria.includes(key));
  const form = useForm(DONE);
  const [checked, setChecked] = useState<string[]>([]);
  const [file, setFile] = useState<File | null>(null);
  // Others may attest a criterion while this is open.
  const met = checked.filter((each) => open.some(({ key }) => key === each));
  const whole = open.length === 0 || met.length === open.length;
  const complete = useSaving(onClose, async () => {
    const evidence = file ? await evidenceOf(run.id, file) : {};
    const said = { run_id: run.id, step_key: step.step_key, ...filled(form.values()) };
    // If all are met, one request completes the step atomically.
    const isDone = await attest(said, whole ? [undefined] : met, evidence);
    return isDone ? "All steps are done." : whole ? `Completed: ${step.title}` : "Attested.";
  });
  return (
    <FormDialog
      title={`Complete “${step.title}”`}
      submit={whole ? "Complete step" : "Attest selected"}
      disabled={(open.length > 0 && met.length === 0) || isTooLarge(file)}
      onClose={onClose}
      task={complete}
    >
      {open.length > 0 && (
        <fieldset className="criteria-choice">
          <legend>Criteria met</legend>
          {open.map(({ key, description }) => (
            <CheckField
              key={key}
              label={description || key}
              checked={met.includes(key)}
              onChange={(on) => setChecked(on ? [...met, key] : met.filter((each) => each !== key))}
            />
          ))}
        </fieldset>
      )}
      {form.rows()}
      <FileField
        label="Evidence"
        onChange={setFile}
        hint={`Stored as a copy: at most ${bytes(MAX_EVIDENCE)}.`}
        error={
          file && isTooLarge(file)
            ? `The file is too large (${bytes(file.size)}): at most ${bytes(MAX_EVIDENCE)}.`
            : undefined
        }
      />
    </FormDialog>
  );
}

type Completion = Omit<RunsCompleteStepParams, "criterion_key" | "artifact_contents">;
type Contents = Pick<RunsCompleteStepParams, "artifact_contents">;

/** Attests each criterion, the first with the evidence. Returns whether that completed the run. */
async function attest(said: Completion, keys: (string | undefined)[], evidence: Contents): Promise<boolean> {
  let completed = false;
  for (const [at, criterion_key] of keys.entries()) {
    const given = { ...said, ...(criterion_key && { criterion_key }), ...(at === 0 && evidence) };
    completed = (await api.runs.completeStep(given)).run_completed;
  }
  return completed;
}

const isTooLarge = (file: File | null) => file !== null && file.size > MAX_EVIDENCE;

async function evidenceOf(run_id: string, file: File) {
  const mime_type = file.type || "application/octet-stream";
  const pointer = { display_name: file.name };
  const [artifact, content_base64] = await Promise.all([
    api.runs.registerArtifact({ run_id, kind: "file", pointer, mime_type }),
    base64(file),
  ]);
  return { artifact_contents: [{ artifact_id: artifact.id, content_base64, mime_type }] };
}

const TONE = { open: "warn", accepted: "good", declined: "bad" } as const;

/** Offers the step's result to the next assignee, if the step completes by acceptance. */
export function Offers({ run, step }: StepProps) {
  const offers = useRead(api.runs.listOffers, { run_id: run.id }, "run", { id: run.id });
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
            <Decide run={run} step={step} offer={offer} />
          ) : (
            <Badge label={capitalised(offer.status)} tone={TONE[offer.status]} />
          )}
        </div>
      ))}
      {offerable && !own.some(({ status }) => status === "open") && <Make run={run} step={step} />}
    </section>
  );
}

function Decide({ run, step, offer }: StepProps & { offer: HandoffOffer }) {
  const { user } = useSession();
  const isOwn = offer.offered_by.actor_id === user.id;
  const next = run.steps.filter(({ depends_on }) => depends_on.includes(step.step_key));
  // The accepter continues with a next step, which must be theirs or unassigned.
  const isOthers =
    next.length > 0 &&
    next.every(({ assigned_user_id }) => assigned_user_id !== null && assigned_user_id !== user.id);
  const which = { run_id: run.id, offer_id: offer.id };
  return (
    <span className="row">
      <ActButton
        label={isOwn ? "Withdraw" : "Decline"}
        small
        act={() => api.runs.declineOffer(which)}
        done={isOwn ? "Withdrawn." : "Declined."}
      />
      {isOwn || isOthers ? (
        <span className="muted small">
          {isOthers ? "Waiting for the next assignee" : "Someone else must accept your offer"}
        </span>
      ) : (
        <ActButton
          label="Accept"
          small
          kind="primary"
          act={() => api.runs.acceptOffer(which)}
          done="Accepted. The step is completed."
        />
      )}
    </span>
  );
}

const OFFER = { note: text("Note for the next assignee") };

function Make({ run, step }: StepProps) {
  const form = useForm(OFFER);
  const offer = useTask(async () => {
    await api.runs.offerHandoff({ run_id: run.id, step_key: step.step_key, ...filled(form.values()) });
    toast({ title: "Offered. The step is completed when someone accepts." });
  });
  return (
    <form className="row end-fields" onSubmit={submitting(offer.run)}>
      <div className="grow">{form.rows()}</div>
      <Button label="Offer handoff" type="submit" busy={offer.busy} />
    </form>
  );
}
