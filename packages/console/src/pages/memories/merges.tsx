import { useState } from "react";
import { Link } from "react-router";
import type { MergeProposal } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useAddress } from "../../data/use-address.ts";
import { usePages } from "../../data/use-list.ts";
import { useSession } from "../../shell/session.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CheckField, Segments } from "../../ui/field.tsx";
import { Check, GitMerge, X } from "../../ui/icons.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, wideColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";
import { type Decision, findExact, type Pair, similarityInWords, withMemories } from "./bulk.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import "./memories.css";

/** Each proposal needs two memories to be read, and the rate limit applies. */
const PAGE = 15;
const STATUSES = ["open", "resolved", "rejected"] as const;
export const MERGE_TONE = { open: "warn", resolved: "good", rejected: "neutral" } as const;

const titleOf = ({ a, b }: Pair) => a?.title ?? b?.title ?? "Not readable";

const PAIR: Column<Pair> = column("Memories", ({ id, a, b }) => (
  <Link to={`/memories/merges/${id}`} className="merge-pair">
    <span className="truncate">{a?.title ?? "Not readable"}</span>
    <span className="truncate muted">{b?.title ?? "Not readable"}</span>
  </Link>
));

const COLUMNS: Column<Pair>[] = [
  endColumn("Similarity", ({ similarity }) => (similarity === null ? "–" : similarityInWords(similarity))),
  wideColumn("Proposed by", (row) => <Proposer proposal={row} />),
  wideColumn("Status", ({ status }) => <Badge label={capitalised(status)} tone={MERGE_TONE[status]} />),
  endColumn("Proposed", ({ proposed_at }) => <Time at={proposed_at} />),
];

/** The proposer: an agent, a person or the service itself. */
export function Proposer({ proposal }: { proposal: MergeProposal }) {
  const id = proposal.proposer_agent_id ?? proposal.proposer_user_id;
  return id === null ? "the service" : <Who id={id} />;
}

/** Pairs of memories that may have the same content. */
export function Merges() {
  const [search, change] = useAddress();
  const { may } = useSession();
  const status = STATUSES.find((each) => each === search.get("status")) ?? "open";
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
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
  const decides = status === "open" && may("merges.resolve");
  const choose = (ids: string[], on: boolean) =>
    setChosen((before) => new Set(on ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id))));
  const shown = pages.items ?? [];
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
      {decides && (
        <Decisions
          shown={shown}
          chosen={shown.filter(({ id }) => chosen.has(id))}
          choose={choose}
          reload={async () => {
            setChosen(new Set());
            await pages.reload();
          }}
        />
      )}
      <List
        pages={pages}
        label="Merge proposals"
        columns={[decides ? selectable(chosen, choose) : PAIR, ...COLUMNS]}
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

type Choose = (ids: string[], on: boolean) => void;

/** The pair, with a box to select it. */
function selectable(chosen: ReadonlySet<string>, choose: Choose): Column<Pair> {
  const cell = (pair: Pair) => (
    <div className="merge-choose">
      <input
        type="checkbox"
        aria-label={`Select ${titleOf(pair)}`}
        checked={chosen.has(pair.id)}
        onChange={(event) => choose([pair.id], event.target.checked)}
      />
      {PAIR.cell(pair)}
    </div>
  );
  return { ...PAIR, cell };
}

interface DecisionsProps {
  shown: Pair[];
  chosen: Pair[];
  choose: Choose;
  reload(): Promise<void>;
}

/** Decides the selected proposals, or all exact duplicates. */
function Decisions({ shown, chosen, choose, reload }: DecisionsProps) {
  const [open, setOpen] = useState<{ decision: Decision; exact?: boolean } | null>(null);
  const none = chosen.length === 0;
  return (
    <>
      {shown.length > 0 && (
        <div className="list-bar merge-bar">
          <CheckField
            label={none ? "Select all shown" : `${chosen.length} selected`}
            checked={chosen.length === shown.length}
            onChange={(on) =>
              choose(
                shown.map(({ id }) => id),
                on,
              )
            }
          />
          <Button
            label="Merge selected"
            small
            icon={Check}
            disabled={none}
            onClick={() => setOpen({ decision: "merge" })}
          />
          <Button
            label="Reject selected"
            small
            icon={X}
            disabled={none}
            onClick={() => setOpen({ decision: "reject" })}
          />
          <Button
            label="Merge exact duplicates"
            small
            icon={GitMerge}
            onClick={() => setOpen({ decision: "merge", exact: true })}
          />
        </div>
      )}
      {open && (
        <BulkDialog
          decision={open.decision}
          find={open.exact ? findExact : async () => chosen}
          onClose={() => {
            setOpen(null);
            void reload();
          }}
        />
      )}
    </>
  );
}
