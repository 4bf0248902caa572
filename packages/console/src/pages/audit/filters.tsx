import { OPERATIONS } from "../../../../client/generated/operations.ts";
import type { Operation } from "../../../../client/operation.ts";
import { findAgents, findPeople } from "../../data/find.ts";
import { knownName, nameIs } from "../../data/names.ts";
import { capitalised } from "../../data/text.ts";
import { useAddress } from "../../data/use-address.ts";
import { useNames } from "../../data/use-names.ts";
import { type Choice, Combo } from "../../ui/combo.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { RANGES } from "./time-range.ts";
import "../../styles/filters.css";

const OUTCOMES = [
  { value: "", label: "All outcomes" },
  { value: "done", label: "Done" },
  { value: "refused", label: "Refused" },
  { value: "failed", label: "Failed" },
  { value: "begun", label: "Begun" },
];

/** Kinds of resources that entries name. */
const KINDS = [
  ...["agent", "auth", "bundle", "channel", "connector", "delivery", "device", "document", "exemplar"],
  ...["handoff", "ingest", "interest", "key", "memory", "merge", "output", "project", "relationship", "run"],
  ...["session", "specialist", "team", "template", "user"],
];

const KIND_OPTIONS = [
  { value: "", label: "All kinds" },
  ...KINDS.map((value) => ({ value, label: capitalised(value) })),
];

/** Returns the filters in the address as parameters of `audit.list`. */
export function filtersOf(search: URLSearchParams): Record<string, string> {
  const names = ["action", "actor_id", "resource_type", "resource_id", "outcome"];
  const given = names.map((name) => [name, search.get(name) ?? ""] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ""));
}

/** Filters of the audit log; they are in the address. */
export function Filters() {
  const [search, change] = useAddress();
  const of = (name: string) => search.get(name) ?? "";
  const set = (name: string) => (value: string) => change({ [name]: value });
  return (
    <div className="filters">
      <Actor />
      <Combo
        label="Action"
        value={of("action") ? { id: of("action"), label: of("action") } : null}
        onChange={(choice) => change({ action: choice?.id ?? null })}
        find={findActions}
        none="All actions"
      />
      <SelectField
        label="Resource"
        value={of("resource_type")}
        options={KIND_OPTIONS}
        onChange={set("resource_type")}
      />
      <SelectField label="Outcome" value={of("outcome")} options={OUTCOMES} onChange={set("outcome")} />
      <SelectField
        label="Time"
        value={of("range")}
        options={RANGES}
        onChange={(range) => change(range === "custom" ? { range } : { range, since: null, until: null })}
      />
      {of("range") === "custom" && (
        <>
          <TextField label="From" type="datetime-local" value={of("since")} onChange={set("since")} />
          <TextField label="Until" type="datetime-local" value={of("until")} onChange={set("until")} />
        </>
      )}
    </div>
  );
}

function Actor() {
  const [search, change] = useAddress();
  const nameOf = useNames();
  const id = search.get("actor_id");
  const choose = (choice: Choice | null) => {
    if (choice) nameIs(choice.id, choice.label);
    change({ actor_id: choice?.id ?? null });
  };
  return (
    <Combo
      label="Actor"
      value={id ? { id, label: knownName(id) ?? nameOf(id) } : null}
      onChange={choose}
      find={findActors}
      none="Everyone"
    />
  );
}

async function findActors(text: string, signal: AbortSignal): Promise<Choice[]> {
  const [people, agents] = await Promise.all([findPeople(text, signal), findAgents(text, signal)]);
  return [...people, ...agents.map((agent) => ({ ...agent, detail: "agent" }))];
}

/** Recorded by their services, also when they fail before a caller is known. */
const OTHERS = ["auth.login", "auth.logout", "memories.erase"];

/** `agents.rotateSigningSecret` of the client is `agents.rotate_signing_secret` in the log. */
const ACTIONS = [
  ...OTHERS,
  ...Object.entries(OPERATIONS as Record<string, Record<string, Operation>>).flatMap(([service, table]) =>
    Object.entries(table)
      .filter(([, { audited, by }]) => audited && by !== "operator")
      .map(([name]) => `${service}.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`),
  ),
].sort();

async function findActions(text: string): Promise<Choice[]> {
  const words = text.trim().toLowerCase();
  const found = ACTIONS.filter((action) => action.includes(words));
  // The log has actions of other versions too.
  const typed = /^[a-z]+\.[a-z_]+$/.test(words) && !found.includes(words) ? [words] : [];
  return [...typed, ...found].map((action) => ({ id: action, label: action }));
}
