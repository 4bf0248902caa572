import { useState } from "react";
import { type Agent, ApiError, type Interest, type InterestsTestResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled, plural } from "../../data/format.ts";
import { useList } from "../../data/queries.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { CheckField, type Option } from "../../ui/field.tsx";
import { code, converted, select, text, useForm } from "../../ui/form.tsx";
import { ActIcon, FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { CircleAlert, Filter, FlaskConical, Pencil, Trash2 } from "../../ui/icons.tsx";
import { EditableList } from "../../ui/list-page.tsx";
import { type Column, column, endColumn, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { toastWarnings, useFormTask, useSaving } from "../../ui/task.tsx";
import { Badge, FilterText, Time } from "../../ui/text.tsx";
import "./agents.css";

export function Interests({ agent }: { agent: Agent }) {
  return (
    <EditableList
      pages={useList(api.interests.list, { agent_id: agent.id }, "interests", "interest")}
      label="Interests"
      columns={(edit) => columnsOf(agent, edit)}
      add="Add interest"
      kind="plain"
      empty={{
        icon: Filter,
        title: "No interests yet",
        text: `Add an interest to send matching events to ${agent.name}. Until then it only receives events of its channels.`,
      }}
      dialog={(interest, onClose) => <InterestForm agent={agent} interest={interest} onClose={onClose} />}
    />
  );
}

const columnsOf = (agent: Agent, edit: (interest: Interest) => void): Column<Interest>[] => [
  column("Event type", (interest) => (
    <button type="button" className="link opens" onClick={() => edit(interest)}>
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
      <ActIcon
        icon={Trash2}
        label={`Delete interest ${interest.event_type}`}
        title="Delete this interest?"
        text={
          <>
            New events of <code>{interest.event_type}</code> no longer match {agent.name}. Existing deliveries
            are kept. This cannot be undone.
          </>
        }
        action="Delete interest"
        act={() => api.interests.delete({ agent_id: agent.id, id: interest.id })}
        done="Interest deleted."
      />
    </>
  )),
];

const PRIORITIES = Array.from({ length: 10 }, (_, i) => ({
  value: String(9 - i),
  label: i === 0 ? "9 (highest)" : i === 9 ? "0 (lowest)" : String(9 - i),
}));

const DEPTHS: Option<Interest["enrichment_depth"]>[] = [
  { value: "none", label: "None" },
  { value: "shallow", label: "Top 3, titles only" },
  { value: "deep", label: "Top 10, with content" },
];

/** Edits the seconds before each retry as text, such as `10, 60, 300`; null for the default. */
export const delays = (placeholder: string) =>
  converted<number[] | null>(
    text("Retries after, in seconds", {
      pattern: "\\s*[1-9][0-9]*(\\s*,\\s*[1-9][0-9]*)*\\s*",
      placeholder,
      hint: "Comma-separated, such as 10, 60, 300. The last one repeats.",
    }),
    (seconds) => seconds?.join(", ") ?? "",
    (draft) => (draft.trim() === "" ? null : draft.split(",").map(Number)),
  );

const FIELDS = {
  event_type: text("Event type", {
    required: true,
    autoFocus: true,
    className: "code",
    placeholder: "com.github.issues.*",
    hint: "A glob: * matches any characters, ? matches one.",
  }),
  filter_expression: code("Filter (CEL)", {
    rows: 2,
    placeholder: 'data.total > 100 && event.subject.startsWith("acme/")',
    hint: "An expression over data and event. Empty: every event of the type.",
  }),
  priority: converted<number>(select("Priority", PRIORITIES), String, Number),
  enrichment_depth: select("Attached memories", DEPTHS),
  retry_delays_seconds: delays("The agent's"),
  ordering_key: text("Order by", {
    className: "code",
    placeholder: "data.order_id",
    hint: "One delivery at a time for each value. Empty: any order.",
  }),
};

type Props = SavingProps & { agent: Agent; interest: Interest | undefined };

/** Creates or edits an interest; it can be tested on the latest events before saving. */
function InterestForm({ agent, interest, onClose }: Props) {
  const form = useForm(FIELDS, interest ?? { priority: 5 }, () => {
    test.clear();
    save.clear();
  });
  const [service, setService] = useState(false);
  const { event_type, filter_expression } = form.values();
  const subject = { agent_id: agent.id, event_type, filter_expression };
  // A result belongs to the tested values, even if it arrives late.
  const of = JSON.stringify(subject);
  const [tested, setTested] = useState<{ of: string; result: InterestsTestResult }>();
  const result = tested?.of === of ? tested.result : undefined;
  const test = useFormTask(async () => {
    setTested({
      of,
      result: await api.interests.test({ ...subject, ...filled({ include_service: service }) }),
    });
  });
  const save = useSaving(onClose, async () => {
    const which = { agent_id: agent.id, id: interest?.id ?? "" };
    const saved = interest
      ? await form.save(api.interests, which, `/agents/${agent.id}?tab=interests`)
      : await api.interests.create({ agent_id: agent.id, ...form.values() });
    if (!saved) return false;
    toastWarnings(saved);
    return interest ? "Interest saved." : "Interest added.";
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
      {form.show("event_type")}
      {form.show("filter_expression", { error: ofFilter ? error.message : undefined })}
      {form.grid("priority", "enrichment_depth", "retry_delays_seconds", "ordering_key")}
      <div className="row">
        <Button
          label="Test on recent events"
          small
          icon={FlaskConical}
          busy={test.busy}
          disabled={event_type === ""}
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
