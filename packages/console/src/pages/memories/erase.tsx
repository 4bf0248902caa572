import { useRef, useState } from "react";
import type { MemoriesEraseParams, MemoriesEraseResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, fullTime, linesOf, number, plural } from "../../data/format.ts";
import { saveFile } from "../../data/save-file.ts";
import { Button } from "../../ui/button.tsx";
import { findAgents } from "../../ui/combo.tsx";
import { TextField } from "../../ui/field.tsx";
import { code, combo, converted, segments, text, useForm } from "../../ui/form.tsx";
import { Form, FormDialog } from "../../ui/form-dialog.tsx";
import { Download } from "../../ui/icons.tsx";
import { Card, Facts, Page } from "../../ui/page.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";
import { Secret } from "../../ui/text.tsx";
import "./memories.css";

const BY = [
  { value: "subject", label: "By subject" },
  { value: "agent", label: "By agent" },
  { value: "ids", label: "By ID" },
] as const;
type By = (typeof BY)[number]["value"];

/** Erasure for data-protection requests: preview, confirmation, receipt. */
export function Erase() {
  const [done, setDone] = useState<MemoriesEraseResult>();
  return (
    <Page
      title="Erase permanently"
      above={{ "/memories": "Memories", "/memories/health": "Memory health" }}
      lead="For data-protection requests: erases memories and everything stored about them, regardless of scope. This cannot be undone."
    >
      {done ? <Receipt result={done} again={() => setDone(undefined)} /> : <Steps onDone={setDone} />}
    </Page>
  );
}

interface Plan {
  wanted: MemoriesEraseParams;
  erased: MemoriesEraseResult["erased"];
}

function Steps({ onDone }: Pick<ConfirmProps, "onDone">) {
  const [plan, setPlan] = useState<Plan>();
  const [sure, setSure] = useState(false);
  const count = plan?.erased.memories ?? 0;
  const total = Object.values(plan?.erased ?? {}).reduce((sum: number, each) => sum + (each ?? 0), 0);
  return (
    <div className="stack">
      <Card title="1. Selection">
        <What onPlan={setPlan} />
      </Card>
      {plan && (
        <Card title="2. Data to erase">
          <div className="stack" role="status">
            {total === 0 ? (
              <p className="muted">No stored data matches. There is nothing to erase.</p>
            ) : (
              <>
                <Counts erased={plan.erased} />
                <div className="row">
                  <Button
                    label={`Erase ${count > 0 ? plural(count, "memory", "memories") : "data"} permanently`}
                    kind="danger"
                    onClick={() => setSure(true)}
                  />
                  <span className="muted small">Nothing is erased yet.</span>
                </div>
              </>
            )}
          </div>
        </Card>
      )}
      {sure && plan && (
        <Confirm planned={plan.wanted} count={count} onClose={() => setSure(false)} onDone={onDone} />
      )}
    </div>
  );
}

const SELECTION = {
  by: segments("Select by", BY),
  subject: text("Subject", {
    placeholder: "customer-4711",
    hint: "Memories whose metadata names this subject, memories from events about it, and documents about it.",
  }),
  agent_id: combo("Agent", {
    find: findAgents,
    hint: "Everything that this agent owns, including what only it can read.",
  }),
  ids: converted<string[]>(
    code("Memory IDs", { hint: "One per line, at most 1,000." }),
    (ids) => ids.join("\n"),
    linesOf,
  ),
};

/** @param props.onPlan called without a plan when the selection changes */
function What({ onPlan }: { onPlan(plan?: Plan): void }) {
  const edits = useRef(0);
  const form = useForm(SELECTION, {}, () => {
    edits.current += 1;
    look.clear();
    onPlan();
  });
  const { by, subject, agent_id, ids } = form.values();
  const wanted: Record<By, MemoriesEraseParams | null> = {
    subject: subject === null ? null : { subject },
    agent: agent_id === null ? null : { agent_id },
    ids: ids.length > 0 ? { ids } : null,
  };
  const look = useFormTask(async () => {
    const given = wanted[by];
    if (!given) return;
    const before = edits.current;
    const { erased } = await api.memories.erase({ ...given, dry_run: true });
    // A count belongs to the values it was requested for, even if it arrives late.
    if (edits.current === before) onPlan({ wanted: given, erased });
  });
  return (
    <Form task={look} submit="Preview erasure" disabled={!wanted[by]} note="The preview erases nothing.">
      {form.show("by")}
      {form.show(by === "agent" ? "agent_id" : by)}
    </Form>
  );
}

const WORD = "erase";

interface ConfirmProps {
  planned: MemoriesEraseParams;
  count: number;
  onClose(): void;
  onDone(result: MemoriesEraseResult): void;
}

function Confirm({ planned, count, onClose, onDone }: ConfirmProps) {
  const [word, setWord] = useState("");
  const erase = useFormTask(async () => {
    const result = await api.memories.erase(planned);
    toast({ title: "Erased. Keep the receipt." });
    onDone(result);
  });
  return (
    <FormDialog
      title={
        count > 0
          ? `Erase ${plural(count, "memory", "memories")} permanently?`
          : "Erase this data permanently?"
      }
      submit="Erase permanently"
      danger
      task={erase}
      disabled={word.trim().toLowerCase() !== WORD}
      onClose={onClose}
    >
      <p className="muted">
        The data is erased at once, with relationships, citations and everything derived from it. This cannot
        be undone. You get a signed receipt.
      </p>
      <TextField label={`Type “${WORD}” to confirm`} value={word} onChange={setWord} />
    </FormDialog>
  );
}

/** Rows of each kind, omitting kinds without any. */
function Counts({ erased }: { erased: MemoriesEraseResult["erased"] }) {
  const counts = Object.entries(erased).flatMap(([kind, count]) => (count ? [{ kind, count }] : []));
  const shown = counts.map(({ kind, count }) => [capitalised(kind), bold(count)]);
  return <Facts of={counts.length > 0 ? Object.fromEntries(shown) : { Rows: "None" }} />;
}

const bold = (count: number) => <strong className="num">{number(count)}</strong>;

function Receipt({ result, again }: { result: MemoriesEraseResult; again(): void }) {
  const { erased_at, erased, receipt } = result;
  return (
    <Card title="Erased" actions={<Button label="Erase more data" onClick={again} />}>
      <div className="stack" role="status">
        {erased_at && <p>Erased {fullTime(erased_at)}. The audit log records it.</p>}
        <Counts erased={erased} />
        {receipt && (
          <>
            <Secret
              label="Receipt"
              value={receipt}
              note="A JWT signed by the service. Verify it with the keys at /.well-known/jwks.json."
            />
            <div className="row">
              <Button
                label="Download receipt"
                icon={Download}
                onClick={() => saveFile(receipt, `erasure-${erased_at}.jwt`)}
              />
            </div>
          </>
        )}
      </div>
    </Card>
  );
}
