import { Link } from "react-router";
import type { AuditEntry } from "../../../../client/index.ts";
import { isTitled, type TitledKind, useTitle } from "../../data/titles.ts";
import { Who } from "../../ui/who.tsx";

type Named = Pick<AuditEntry, "resource_type" | "resource_id" | "details">;

/** The page of each kind of resource that has one. */
const PAGES: Record<string, (id: string, details: AuditEntry["details"]) => string | null> = {
  document: (id) => `/documents/${id}`,
  run: (id) => `/runs/${id}`,
  output: (id) => `/outputs/${id}`,
  memory: (id) => `/memories/${id}`,
  merge: (id) => `/memories/merges/${id}`,
  exemplar: (id) => `/exemplars/${id}`,
  specialist: (id) => `/specialists/${id}`,
  schedule: (id) => `/schedules/${id}`,
  channel: (id) => `/channels/${id}`,
  template: (_, { slug }) => (typeof slug === "string" ? `/templates/${slug}` : null),
  handoff: (id, { agent_id }) => (agent_id ? `/agents/${agent_id}/handoffs/${id}` : null),
  bundle: (id, { agent_id }) => (agent_id ? `/agents/${agent_id}/bundles/${id}` : null),
};

/** Ids that `Who` names. */
const PEOPLE = /^(ag|usr|team)_/;

/** What an entry is about: by name or title where there is one, else the kind and the end of the id. */
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
  const { agent_id = "" } = entry.details as { agent_id?: string };
  if (isTitled(kind)) return <Titled kind={kind} id={id} agent_id={agent_id} entry={entry} />;
  return <Linked entry={entry} title={nameOf(entry, id)} />;
}

function Titled({ entry, ...of }: { entry: Named; kind: TitledKind; id: string; agent_id: string }) {
  const title = useTitle(of.kind, of.id, of.agent_id);
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
  const { resource_type, resource_id, details } = entry;
  const to = PAGES[resource_type ?? ""]?.(resource_id ?? "", details);
  return to ? <Link to={to}>{title}</Link> : <span title={resource_id ?? undefined}>{title}</span>;
}

/** Specialists, projects and templates have names for ids. */
function nameOf(entry: Named, id: string): string {
  const { slug } = entry.details as { slug?: string };
  if (slug) return slug;
  return entry.resource_type === "specialist" || entry.resource_type === "project" ? id : shortOf(entry);
}

/** Enough to distinguish them: "memory …x81k". */
const shortOf = ({ resource_type, resource_id }: Named) =>
  `${resource_type} …${String(resource_id).slice(-4)}`;
