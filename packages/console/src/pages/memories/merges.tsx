import { GitMerge } from "lucide-react";
import { Link } from "react-router";
import { isApiError, type Memory, type MergeProposal } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useAddress } from "../../data/use-address.ts";
import { usePages } from "../../data/use-list.ts";
import { Badge } from "../../ui/badge.tsx";
import { Segments } from "../../ui/field.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { type Column, List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";
import { percent } from "./words.tsx";
import "./memories.css";

type Row = MergeProposal & { a: Memory | null; b: Memory | null };
/** Each proposal needs two memories to be read, and the rate limit applies. */
const PAGE = 15;
const STATUSES = ["open", "resolved", "rejected"] as const;
export const MERGE_TONE = { open: "warn", resolved: "good", rejected: "neutral" } as const;

const COLUMNS: Column<Row>[] = [
  {
    name: "Memories",
    cell: ({ id, a, b }) => (
      <Link to={`/memories/merges/${id}`} className="merge-pair">
        <span className="truncate">{a?.title ?? "Not readable"}</span>
        <span className="truncate muted">{b?.title ?? "Not readable"}</span>
      </Link>
    ),
  },
  {
    name: "Similarity",
    cell: ({ similarity }) => (similarity === null ? "–" : percent(similarity)),
    end: true,
  },
  {
    name: "Proposed by",
    cell: (row) => <Proposer proposal={row} />,
    wideOnly: true,
  },
  {
    name: "Status",
    cell: ({ status }) => <Badge tone={MERGE_TONE[status]}>{capitalised(status)}</Badge>,
    wideOnly: true,
  },
  { name: "Proposed", cell: ({ proposed_at }) => <Time at={proposed_at} />, end: true },
];

/** The proposer: an agent, a person or the service itself. */
export function Proposer({ proposal }: { proposal: MergeProposal }) {
  const id = proposal.proposer_agent_id ?? proposal.proposer_user_id;
  return id === null ? "the service" : <Who id={id} />;
}

/** Pairs of memories that may have the same content. */
export function Merges() {
  const [search, change] = useAddress();
  const status = STATUSES.find((each) => each === search.get("status")) ?? "open";
  const pages = usePages(
    async (cursor, signal) => {
      const offset = Number(cursor ?? 0);
      const answer = await api.merges.list({ status, offset, limit: PAGE }, { signal });
      const items = await withMemories(answer.merge_proposals, signal);
      const end = offset + items.length;
      return { items, next: items.length > 0 && end < answer.total ? String(end) : null };
    },
    [status],
    "merges",
    ["merge", "memory"],
  );
  return (
    <Page
      title="Merge proposals"
      above={[{ to: "/memories", label: "Memories" }]}
      lead="Possible duplicates, proposed by the service, agents and people."
    >
      <div className="list-bar">
        <Segments
          label="Status"
          value={status}
          onChange={(value) => change({ status: value === "open" ? null : value })}
          options={STATUSES.map((value) => ({ value, label: capitalised(value) }))}
        />
      </div>
      <List
        pages={pages}
        label="Merge proposals"
        columns={COLUMNS}
        linkOf={({ id }) => `/memories/merges/${id}`}
        empty={
          <Empty icon={GitMerge} title={`No ${status} proposals`}>
            {status === "open" && "Near duplicates appear here soon after they are created."}
          </Empty>
        }
      />
    </Page>
  );
}

/** Reads each memory once: similar memories occur in many proposals. */
async function withMemories(proposals: MergeProposal[], signal: AbortSignal): Promise<Row[]> {
  const ids = new Set(proposals.flatMap(({ memory_a_id, memory_b_id }) => [memory_a_id, memory_b_id]));
  const read = [...ids].map(async (id) => [id, await readable(id, signal)] as const);
  const memories = new Map(await Promise.all(read));
  return proposals.map((proposal) => ({
    ...proposal,
    a: memories.get(proposal.memory_a_id) ?? null,
    b: memories.get(proposal.memory_b_id) ?? null,
  }));
}

/** A purged or unreadable memory should not hide the others. */
export function readable(id: string, signal: AbortSignal): Promise<Memory | null> {
  return api.memories.get({ id }, { signal }).catch((error) => {
    if (isApiError(error) && [403, 404].includes(error.status)) return null;
    throw error;
  });
}
