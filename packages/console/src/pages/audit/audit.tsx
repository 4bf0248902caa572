import { useState } from "react";
import { Link } from "react-router";
import { OPERATIONS } from "../../../../client/generated/operations.ts";
import type { AuditEntry } from "../../../../client/index.ts";
import type { Operation } from "../../../../client/operation.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled, fullTime, timeOf } from "../../data/format.ts";
import { type TitledKind, useTitle } from "../../data/names.ts";
import { useList } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { useAddress } from "../../data/use-address.ts";
import { Button } from "../../ui/button.tsx";
import { type Choice, findAgents, findPeople } from "../../ui/combo.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { anyOf, type Option, TextField } from "../../ui/field.tsx";
import { ComboFilter, SelectFilter, useSince } from "../../ui/filters.tsx";
import { Download, ScrollText } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Empty, Facts } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, wideColumn } from "../../ui/table.tsx";
import { useTask } from "../../ui/task.tsx";
import { Badge, Id, Json, Time, Who } from "../../ui/text.tsx";

const columnsOf = (open: (entry: AuditEntry) => void): Column<AuditEntry>[] => [
  column("Action", (entry) => (
    <button type="button" className="link opens" onClick={() => open(entry)}>
      <code>{entry.action}</code>
    </button>
  )),
  column("Actor", (entry) => <Actor entry={entry} />),
  column("Resource", (entry) => <Resource entry={entry} />),
  column("Outcome", (entry) => <Outcome entry={entry} />),
  wideColumn("IP address", ({ ip }) => ip ?? "–"),
  endColumn("Time", ({ at }) => <Time at={at} />),
];

/** The audit log, latest first. */
export function Audit() {
  const [search] = useAddress();
  const [shown, setShown] = useState<AuditEntry>();
  const filter = { ...filtersOf(search), ...useTimeRange(search) };
  const pages = useList(api.audit.list, filter, "audit", "audit");
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <div className="stack">
      <Filters />
      <List
        pages={pages}
        label="Audit log"
        columns={columnsOf(setShown)}
        actions={<Export filter={filter} />}
        empty={
          <Empty icon={ScrollText} title={isFiltered ? "No entries for these filters" : "No entries yet"}>
            Changes by admins, deletions, erasures and decisions reserved for people are recorded here.
          </Empty>
        }
      />
      {shown && (
        <Dialog light title={shown.action} onClose={() => setShown(undefined)}>
          <div className="stack">
            <Facts
              of={{
                Actor: <Actor entry={shown} />,
                Time: fullTime(shown.at),
                Outcome: <Outcome entry={shown} />,
                Error: shown.error,
                Resource: shown.resource_type && <Resource entry={shown} />,
                "Resource ID": shown.resource_id && <Id>{shown.resource_id}</Id>,
                "Actor ID": shown.actor_id && <Id>{shown.actor_id}</Id>,
                "IP address": shown.ip,
                Request: shown.request_id && <Id>{shown.request_id}</Id>,
                Entry: <Id>{shown.id}</Id>,
              }}
            />
            <Json value={shown.details} label="Details" />
          </div>
        </Dialog>
      )}
    </div>
  );
}

/** Downloads all entries that match. The browser saves them as they arrive. */
function Export({ filter }: { filter: Record<string, string> }) {
  const { may } = useSession();
  const save = useTask(async (format: string) => {
    // A refusal, such as of an ended session, would be saved as the file.
    await api.audit.list({ ...filter, limit: 1 });
    const link = document.createElement("a");
    link.href = `/v1/audit/export?${new URLSearchParams({ format, ...filter })}`;
    link.download = `audit.${format}`;
    link.click();
  });
  if (!may("audit.export")) return null;
  return (
    <Menu
      trigger={<Button label="Export" icon={Download} busy={save.busy} />}
      choices={[
        { label: "CSV, for spreadsheets", onSelect: () => save.run("csv") },
        { label: "NDJSON, one entry per line", onSelect: () => save.run("ndjson") },
      ]}
    />
  );
}

const OUTCOMES = ["done", "refused", "failed", "begun"];

const KINDS = [
  ...["agent", "auth", "bundle", "channel", "connector", "delivery", "device", "document", "exemplar"],
  ...["handoff", "ingest", "interest", "key", "memory", "merge", "output", "project", "relationship", "run"],
  ...["session", "specialist", "team", "template", "user"],
];

export function filtersOf(search: URLSearchParams) {
  const names = ["action", "actor_id", "resource_type", "resource_id", "outcome"];
  return filled(Object.fromEntries(names.map((name) => [name, search.get(name) ?? ""])));
}

export function Filters() {
  const [search, change] = useAddress();
  const bound = (name: string, label: string) => (
    <TextField
      label={label}
      type="datetime-local"
      value={search.get(name) ?? ""}
      onChange={(value) => change({ [name]: value })}
    />
  );
  return (
    <div className="filters">
      <ComboFilter name="actor_id" label="Actor" find={findActors} none="Everyone" />
      <ComboFilter name="action" label="Action" find={findActions} none="All actions" />
      <SelectFilter name="resource_type" label="Resource" options={anyOf("All kinds", KINDS)} />
      <SelectFilter name="outcome" label="Outcome" options={anyOf("All outcomes", OUTCOMES)} />
      <SelectFilter name="range" label="Time" options={RANGES} />
      {search.get("range") === "custom" && (
        <>
          {bound("since", "From")}
          {bound("until", "Until")}
        </>
      )}
    </div>
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

/** Those with hours end now. */
const RANGES: (Option & { hours?: number })[] = [
  { value: "", label: "Any time" },
  { value: "1h", label: "Last hour", hours: 1 },
  { value: "24h", label: "Last 24 hours", hours: 24 },
  { value: "7d", label: "Last 7 days", hours: 168 },
  { value: "30d", label: "Last 30 days", hours: 720 },
  { value: "custom", label: "From … until …" },
];

/** Returns the bounds of the range in the address, as the API takes them. */
function useTimeRange(search: URLSearchParams): { since?: string; until?: string } {
  const [range, from, until] = ["range", "since", "until"].map((name) => search.get(name) ?? "");
  const since = useSince(RANGES.find(({ value }) => value === range)?.hours ?? 0);
  if (range === "custom") return filled({ since: toIso(from), until: toIso(until) });
  return since === null ? {} : { since };
}

/** Converts the value of a `datetime-local` field, in this browser's time zone. */
const toIso = (local = "") => (Number.isNaN(Date.parse(local)) ? undefined : timeOf(local));

type Named = Pick<AuditEntry, "resource_type" | "resource_id" | "details">;
type Details = { agent_id?: string; slug?: string };

/** Returns the page of a resource, if its kind has one. */
function pageOf({ resource_type: kind, resource_id: id, details }: Named): string | undefined {
  const { agent_id, slug } = details as Details;
  if (kind === "template") return slug && `/templates/${slug}`;
  if (kind === "handoff" || kind === "bundle") return agent_id && `/agents/${agent_id}/${kind}s/${id}`;
  if (kind === "memory") return `/memories/${id}`;
  if (kind === "merge") return `/memories/merges/${id}`;
  return kind && PAGED.includes(kind) ? `/${kind}s/${id}` : undefined;
}

/** Kinds whose pages are called as they are. */
const PAGED = ["document", "run", "output", "exemplar", "specialist", "schedule", "channel"];

/** Reading a memory would count as use. */
const TITLED: readonly string[] = ["document", "run", "output", "channel", "schedule", "key"];
const isTitled = (kind: string): kind is TitledKind => TITLED.includes(kind);

/** Ids that `Who` names. */
const PEOPLE = /^(ag|usr|team)_/;

/** The subject of an entry: by name or title where there is one, else the kind and the end of the id. */
export function Resource({ entry }: { entry: Named }) {
  const { resource_type: kind, resource_id: id } = entry;
  if (!kind) return "–";
  if (id === null) return kind;
  if (PEOPLE.test(id)) {
    const isOwn = /^(agent|user|team)$/.test(kind);
    return (
      <>
        {!isOwn && `${kind} · `}
        <Who id={id} />
      </>
    );
  }
  const { agent_id = "", slug } = entry.details as Details;
  if (isTitled(kind)) return <Titled kind={kind} id={id} agent_id={agent_id} entry={entry} />;
  // Specialists, projects and templates have names for ids.
  const name = kind === "specialist" || kind === "project" ? id : shortOf(entry);
  return <Linked entry={entry} title={slug || name} />;
}

function Titled({ entry, ...of }: { entry: Named; kind: TitledKind; id: string; agent_id: string }) {
  const title = useTitle(of.kind, of.kind === "key" ? `${of.agent_id}/${of.id}` : of.id);
  return (
    <>
      <Linked entry={entry} title={title ?? shortOf(entry)} />
      {of.kind === "key" && of.agent_id && (
        <>
          {" of "}
          <Who id={of.agent_id} />
        </>
      )}
    </>
  );
}

function Linked({ entry, title }: { entry: Named; title: string }) {
  const to = pageOf(entry);
  return to ? <Link to={to}>{title}</Link> : <span title={entry.resource_id ?? undefined}>{title}</span>;
}

/** Enough to distinguish them: "memory …x81k". */
const shortOf = ({ resource_type, resource_id }: Named) =>
  `${resource_type} …${String(resource_id).slice(-4)}`;

/** The author of an entry; without a person or an agent, the operator or the service. */
function Actor({ entry: { actor_id, actor_kind } }: { entry: AuditEntry }) {
  if (!actor_id) return capitalised(actor_kind);
  return (
    <>
      <Who id={actor_id} />{" "}
      <span className="faint small">{actor_kind === "user" ? "person" : actor_kind}</span>
    </>
  );
}

const TONE = { begun: "warn", done: "good", refused: "bad", failed: "bad" } as const;

function Outcome({ entry: { outcome, error } }: { entry: AuditEntry }) {
  return (
    <span title={error ?? undefined}>
      <Badge label={capitalised(outcome)} tone={TONE[outcome]} />
    </span>
  );
}
