import { useRef, useState } from "react";
import { type Agent, ApiError, type Interest, type InterestsTestResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, plural } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { CheckField, CodeArea, SelectField, TextField, useDraft } from "../../ui/field.tsx";
import { FormDialog, type SavingProps, saveChanges, useAct } from "../../ui/form-dialog.tsx";
import { CircleAlert, Filter, FlaskConical, Pencil, Trash2 } from "../../ui/icons.tsx";
import { EditableList } from "../../ui/list-page.tsx";
import { type Column, column, endColumn, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { toastWarnings, useFormTask, useSaving } from "../../ui/task.tsx";
import { Badge, FilterText, Time } from "../../ui/text.tsx";
import { DelaysField, formatDelays, readDelays } from "./delays.tsx";
import "./agents.css";

/** The interests of an agent. */
export function Interests({ agent }: { agent: Agent }) {
  const list = useList(api.interests.list, { agent_id: agent.id }, "interests", "interest");
  const remove = useAct((interest: Interest) => ({
    title: "Delete this interest?",
    text: (
      <>
        New events of <code>{interest.event_type}</code> no longer match {agent.name}. Existing deliveries are
        kept. This cannot be undone.
      </>
    ),
    action: "Delete interest",
    act: () => api.interests.delete({ agent_id: agent.id, id: interest.id }),
    done: "Interest deleted.",
    after: list.reload,
  }));
  return (
    <EditableList
      pages={list}
      label="Interests"
      columns={(edit) => columnsOf(edit, remove.run)}
      add="Add interest"
      kind="plain"
      empty={{
        icon: Filter,
        title: "No interests yet",
        text: `Add an interest to send matching events to ${agent.name}. Until then it only receives events of its channels.`,
      }}
      dialog={(interest, onClose) => (
        <InterestForm agent={agent} interest={interest} onClose={onClose} onDone={list.reload} />
      )}
    />
  );
}

type Act = (interest: Interest) => unknown;

const columnsOf = (edit: Act, remove: Act): Column<Interest>[] => [
  column("Event type", (interest) => (
    <button type="button" className="link" onClick={() => edit(interest)}>
      <code>{interest.event_type}</code>
    </button>
  )),
  column("Filter", ({ filter_expression, filter_suspended_until }) => (
    <>
      <FilterText filter={filter_expression} />
      {filter_suspended_until && <Badge label="Suspended: too expensive" tone="warn" />}
    </>
  )),
  wideEndColumn("Priority", ({ priority }) => priority),
  wideColumn("Memories", ({ enrichment_depth }) => (
    <span className="muted">{capitalised(enrichment_depth)}</span>
  )),
  endColumn("", (interest) => (
    <>
      <IconButton
        icon={Pencil}
        label={`Edit interest ${interest.event_type}`}
        onClick={() => edit(interest)}
      />
      <IconButton
        icon={Trash2}
        label={`Delete interest ${interest.event_type}`}
        onClick={() => remove(interest)}
      />
    </>
  )),
];

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
function InterestForm({ agent, interest, onClose, onDone }: Props) {
  const [before] = useState(interest);
  const [{ priority, depth, delays, order }, field] = useDraft({
    priority: String(interest?.priority ?? 5),
    depth: (interest?.enrichment_depth ?? "none") as Interest["enrichment_depth"],
    delays: formatDelays(interest?.retry_delays_seconds ?? null),
    order: interest?.ordering_key ?? "",
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
    const settings = { priority: Number(priority), enrichment_depth: depth, ordering_key: order || null };
    const wanted = { ...subject, ...settings, retry_delays_seconds: readDelays(delays) };
    if (before) {
      const which = { agent_id: agent.id, id: before.id };
      const look = `/agents/${agent.id}?tab=interests`;
      const saved = await saveChanges(api.interests, which, before, wanted, look);
      if (!saved) return false;
      toastWarnings(saved);
    } else toastWarnings(await api.interests.create(wanted));
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
      <TextField
        label="Event type"
        required
        autoFocus
        className="code"
        placeholder="com.github.issues.*"
        {...testedField("type")}
        hint="A glob: * matches any characters, ? matches one."
      />
      <CodeArea
        label="Filter (CEL)"
        rows={2}
        placeholder='data.total > 100 && event.subject.startsWith("acme/")'
        {...testedField("filter")}
        hint="An expression over data and event. Empty: every event of the type."
        error={ofFilter ? error.message : undefined}
      />
      <div className="grid-2">
        <SelectField label="Priority" options={PRIORITIES} {...field("priority")} />
        <SelectField label="Attached memories" options={DEPTHS} {...field("depth")} />
        <DelaysField {...field("delays")} placeholder="The agent's" />
        <TextField
          label="Order by"
          className="code"
          placeholder="data.order_id"
          {...field("order")}
          hint="One delivery at a time for each value. Empty: any order."
        />
      </div>

      <div className="row">
        <Button
          label="Test on recent events"
          small
          icon={FlaskConical}
          busy={test.busy}
          disabled={type === ""}
          onClick={() => test.run()}
        />
        <CheckField label="Service events" checked={service} onChange={setService} />
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
    </FormDialog>
  );
}

interface Tested {
  type: string;
  filter: string;
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
