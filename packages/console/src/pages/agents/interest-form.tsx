import { useRef, useState } from "react";
import type { Agent, Interest, InterestsTestResult } from "../../../../client/index.ts";
import { ApiError } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { plural } from "../../data/format.ts";
import { type FieldOf, useDraft } from "../../data/use-draft.ts";
import { type Task, useFormTask, useSaving } from "../../data/use-task.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CheckField, CodeArea, SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { CircleAlert, FlaskConical } from "../../ui/icons.tsx";
import { saveChanges } from "../../ui/overwrite.tsx";
import { Time } from "../../ui/text.tsx";

const PRIORITIES = Array.from({ length: 10 }, (_, i) => ({
  value: String(9 - i),
  label: i === 0 ? "9 (highest)" : i === 9 ? "0 (lowest)" : String(9 - i),
}));
const DEPTHS = [
  { value: "none", label: "None" },
  { value: "shallow", label: "Top 3, titles only" },
  { value: "deep", label: "Top 10, with content" },
];

type Props = SavingProps & { agent: Agent; interest: Interest | undefined };

/** Creates or edits an interest; it can be tested on the latest events before saving. */
export function InterestForm({ agent, interest, onClose, onDone }: Props) {
  const [before] = useState(interest);
  const [{ priority, depth }, field] = useDraft({
    priority: String(interest?.priority ?? 5),
    depth: (interest?.enrichment_depth ?? "none") as Interest["enrichment_depth"],
  });
  const [service, setService] = useState(false);
  const [result, setResult] = useState<InterestsTestResult>();
  const edits = useRef(0);
  const [{ type, filter }, testedField] = useDraft<Tested>(
    { type: interest?.event_type ?? "", filter: interest?.filter_expression ?? "" },
    () => {
      edits.current += 1;
      setResult(undefined);
      test.clear();
      save.clear();
    },
  );
  const subject = { agent_id: agent.id, event_type: type, filter_expression: filter || null };
  const test = useFormTask(async () => {
    const before = edits.current;
    const found = await api.interests.test({ ...subject, ...(service && { include_service: true }) });
    // A result belongs to the tested values, even if it arrives late.
    if (edits.current === before) setResult(found);
  });
  const save = useSaving({ onClose, onDone }, async () => {
    const wanted = { ...subject, priority: Number(priority), enrichment_depth: depth };
    if (before) {
      const which = { agent_id: agent.id, id: before.id };
      if (!(await saveChanges(api.interests, which, before, wanted, `/agents/${agent.id}?tab=interests`)))
        return false;
    } else await api.interests.create(wanted);
    return before ? "Interest saved." : "Interest added.";
  });
  const error = save.error ?? test.error;
  const ofFilter = error instanceof ApiError && error.details.field === "filter_expression";
  return (
    <FormDialog
      wide
      title={interest ? "Edit interest" : "New interest"}
      submit={interest ? "Save" : "Add interest"}
      onClose={onClose}
      task={save}
      error={ofFilter ? null : error}
    >
      <TestedFields field={testedField} filterError={ofFilter ? error.message : undefined} />
      <div className="grid-2">
        <SelectField label="Priority" options={PRIORITIES} {...field("priority")} />
        <SelectField label="Attached memories" options={DEPTHS} {...field("depth")} />
      </div>
      <Tried test={test} result={result} disabled={type === ""} service={service} onService={setService} />
    </FormDialog>
  );
}

interface Tested {
  type: string;
  filter: string;
}

function TestedFields({ field, filterError }: { field: FieldOf<Tested>; filterError: string | undefined }) {
  return (
    <>
      <TextField
        label="Event type"
        required
        autoFocus
        className="code"
        placeholder="com.github.issues.*"
        {...field("type")}
        hint="A glob: * matches any characters, ? matches one."
      />
      <CodeArea
        label="Filter (CEL)"
        rows={2}
        placeholder='data.total > 100 && event.subject.startsWith("acme/")'
        {...field("filter")}
        hint="An expression over data and event. Empty: every event of the type."
        error={filterError}
      />
    </>
  );
}

interface TriedProps {
  test: Task<[]>;
  result: InterestsTestResult | undefined;
  disabled: boolean;
  /** Whether the service's own events are tested too. */
  service: boolean;
  onService(wanted: boolean): void;
}

function Tried({ test, result, disabled, service, onService }: TriedProps) {
  return (
    <>
      <div className="row">
        <Button
          label="Test on recent events"
          small
          icon={FlaskConical}
          busy={test.busy}
          disabled={disabled}
          onClick={() => test.run()}
        />
        <CheckField label="Service events" checked={service} onChange={onService} />
        {result && (
          <span role="status">
            Matches <strong>{result.matched}</strong> of {plural(result.tested, "event")}
          </span>
        )}
      </div>
      {result?.hints.map((hint) => (
        <p key={hint} className="notice warn">
          <CircleAlert aria-hidden size={16} /> {hint}
        </p>
      ))}
      {result && result.tested > 0 && <Results results={result.results} />}
    </>
  );
}

const MISSES: Record<string, string> = {
  type: "Different type",
  filter: "Filter is false",
  filter_error: "Filter failed",
};

function Results({ results }: Pick<InterestsTestResult, "results">) {
  const matchesFirst = results.toSorted((a, b) => Number(b.matches) - Number(a.matches));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to
    <section className="tried" aria-label="Tested events" tabIndex={0}>
      <ul>
        {matchesFirst.map((each) => (
          <li key={each.event_id} className={each.matches ? "" : "faint"}>
            <span className="truncate grow">{each.type}</span>
            {each.matches ? (
              <Badge label="Match" tone="good" />
            ) : (
              <span className="small" title={each.error}>
                {MISSES[each.reason] ?? each.reason}
              </span>
            )}
            <span className="small tried-time">
              <Time at={each.accepted_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
