import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import type { Memory, MergeProposal } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import { useFollowed, usePages, useReadShown } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { useAddress } from "../../data/use-address.ts";
import { type Selection, useSelection } from "../../data/use-selection.ts";
import { Button } from "../../ui/button.tsx";
import { Diff } from "../../ui/diff.tsx";
import { CheckField, optionsOf, TextArea, TextField } from "../../ui/field.tsx";
import { SegmentsFilter } from "../../ui/filters.tsx";
import { ActButton } from "../../ui/form-dialog.tsx";
import { Check, GitMerge, type LucideIcon, X } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty, Page } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, RowLink, wideColumn } from "../../ui/table.tsx";
import { Badge, Time, Who } from "../../ui/text.tsx";
import {
  BulkDialog,
  type Decision,
  findExact,
  newer,
  type Pair,
  similarityInWords,
  titleOf,
  withMemories,
} from "./bulk.tsx";
import { Confidence, ScopeBadge, Tags } from "./words.tsx";
import "./memories.css";
import "../../styles/search.css";

/** Each proposal needs two memories to be read, and the rate limit applies. */
const PAGE = 15;
const STATUSES = ["open", "resolved", "rejected"] as const;
const MERGE_TONE = { open: "warn", resolved: "good", rejected: "neutral" } as const;

const PAIR: Column<Pair> = column("Memories", ({ id, a, b }) => (
  <RowLink to={`/memories/merges/${id}`} className="merge-pair">
    <span className="truncate">{a?.title ?? "Not readable"}</span>
    <span className="truncate muted">{b?.title ?? "Not readable"}</span>
  </RowLink>
));

const COLUMNS: Column<Pair>[] = [
  endColumn("Similarity", ({ similarity }) => (similarity === null ? "–" : similarityInWords(similarity))),
  wideColumn("Proposed by", (row) => <Proposer proposal={row} />),
  wideColumn("Status", ({ status }) => <Badge label={capitalised(status)} tone={MERGE_TONE[status]} />),
  endColumn("Proposed", ({ proposed_at }) => <Time at={proposed_at} />),
];

/** The proposer: an agent, a person or the service itself. */
function Proposer({ proposal }: { proposal: MergeProposal }) {
  const id = proposal.proposer_agent_id ?? proposal.proposer_user_id;
  return id === null ? "the service" : <Who id={id} />;
}

export function Merges() {
  const [search] = useAddress();
  const { may } = useSession();
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
  const decides = status === "open" && may("merges.resolve");
  const shown = pages.items ?? [];
  const selection = useSelection(shown.map(({ id }) => id));
  return (
    <Page
      title="Merge proposals"
      above={{ "/memories": "Memories" }}
      lead="Possible duplicates, proposed by the service, agents and people."
    >
      <div className="list-bar">
        <SegmentsFilter name="status" label="Status" options={optionsOf(STATUSES)} />
      </div>
      {decides && <Decisions shown={shown} selection={selection} />}
      <List
        pages={pages}
        label="Merge proposals"
        columns={[decides ? selectable(selection) : PAIR, ...COLUMNS]}
        empty={
          <Empty icon={GitMerge} title={`No ${status} proposals`}>
            {status === "open" && "Near duplicates appear here soon after they are created."}
          </Empty>
        }
      />
    </Page>
  );
}

/** The pair, with a box to select it. */
function selectable(selection: Selection): Column<Pair> {
  const cell = (pair: Pair) => (
    <div className="merge-choose">
      <input
        type="checkbox"
        aria-label={`Select ${titleOf(pair)}`}
        checked={selection.has(pair.id)}
        onChange={() => selection.toggle(pair.id, false)}
      />
      {PAIR.cell(pair)}
    </div>
  );
  return { ...PAIR, cell };
}

interface Choice {
  decision: Decision;
  /** Of all exact duplicates, not the selected proposals. */
  exact?: boolean;
}

const CHOICES: (Choice & { label: string; icon: LucideIcon })[] = [
  { label: "Merge selected", icon: Check, decision: "merge" },
  { label: "Reject selected", icon: X, decision: "reject" },
  { label: "Merge exact duplicates", icon: GitMerge, decision: "merge", exact: true },
];

/** Decides the selected proposals, or all exact duplicates. */
function Decisions({ shown, selection }: { shown: Pair[]; selection: Selection }) {
  const readShown = useReadShown();
  const chosen = shown.filter(({ id }) => selection.has(id));
  const [open, setOpen] = useState<Choice>();
  const none = chosen.length === 0;
  return (
    <>
      {shown.length > 0 && (
        <div className="list-bar merge-bar">
          <CheckField
            label={none ? "Select all shown" : `${chosen.length} selected`}
            checked={chosen.length === shown.length}
            onChange={selection.all}
          />
          {CHOICES.map(({ label, icon, ...choice }) => (
            <Button
              key={label}
              label={label}
              small
              icon={icon}
              disabled={none && !choice.exact}
              onClick={() => setOpen(choice)}
            />
          ))}
        </div>
      )}
      {open && (
        <BulkDialog
          decision={open.decision}
          find={open.exact ? findExact : async () => chosen}
          onClose={() => {
            setOpen(undefined);
            selection.all(false);
            void readShown();
          }}
        />
      )}
    </>
  );
}

/** Two memories side by side, to choose which to keep. */
export function Merge() {
  const { id = "" } = useParams();
  const pair = useFollowed(
    ["merge", "memory"],
    async (signal) => {
      const [read] = await withMemories([await api.merges.get({ id }, { signal })], signal);
      return read as Pair;
    },
    [id],
  );
  return (
    <DetailPage
      of={pair}
      kind="Merge proposal"
      above={{ "/memories": "Memories", "/memories/merges": "Merge proposals" }}
      titleOf={() => "Merge proposal"}
      stateOf={({ status }) => <Badge label={capitalised(status)} tone={MERGE_TONE[status]} />}
      lines={8}
    >
      {(data) => <Compare pair={data} />}
    </DetailPage>
  );
}

function Compare({ pair }: { pair: Pair }) {
  const { a, b, status, similarity, resolution_note: note } = pair;
  const [survivor, setSurvivor] = useState(newer(a, b)?.id ?? "");
  const mayDecide = useSession().may("merges.resolve");
  const open = status === "open";
  return (
    <div className="stack">
      <p className="muted">
        Proposed <Time at={pair.proposed_at} /> by <Proposer proposal={pair} />
        {similarity !== null && `: ${similarityInWords(similarity)} similar`}.{note && ` “${note}”`}
      </p>
      <div className="sides">
        {[a, b].map((memory, at) => (
          <Side
            key={memory?.id ?? at}
            memory={memory}
            stays={pair.surviving_memory_id === memory?.id}
            chosen={open && mayDecide ? survivor === memory?.id : undefined}
            choose={setSurvivor}
          />
        ))}
      </div>
      {a && b && (
        <Card title="Differences">
          <Diff before={a.content} after={b.content} />
        </Card>
      )}
      {open &&
        (mayDecide ? (
          <Decide id={pair.id} survivor={[a, b].find((memory) => memory?.id === survivor)} />
        ) : (
          <p className="muted">An admin of your organisation decides.</p>
        ))}
    </div>
  );
}

interface SideProps {
  memory: Memory | null;
  stays: boolean;
  chosen: boolean | undefined;
  choose(id: string): void;
}

function Side({ memory, stays, chosen, choose }: SideProps) {
  if (!memory)
    return (
      <section className="card merge-side card-body muted">
        This memory was deleted permanently, or you cannot read it.
      </section>
    );
  return (
    <section className={`card merge-side${chosen ? " chosen" : ""}`}>
      {chosen !== undefined && (
        <label className="merge-choice">
          <input type="radio" name="survivor" checked={chosen} onChange={() => choose(memory.id)} />
          {chosen ? "Keeping this one" : "Keep this one"}
        </label>
      )}
      <div className="card-body stack tight">
        <h2>
          <Link to={`/memories/${memory.id}`}>{memory.title}</Link>
        </h2>
        <Markdown>{memory.content}</Markdown>
        <div className="result-facts">
          {stays && <Badge label="Kept" tone="good" />}
          <ScopeBadge scope={memory.scope} />
          <span>{capitalised(memory.type)}</span>
          <Confidence of={memory} />
          <Time at={memory.created_at} />
          <Tags tags={memory.tags} />
        </div>
      </div>
    </section>
  );
}

function Decide({ id, survivor }: { id: string; survivor: Memory | null | undefined }) {
  const [note, setNote] = useState("");
  const [content, setContent] = useState<string | null>(null);
  const navigate = useNavigate();
  const body = { id, ...(note.trim() && { resolution_note: note.trim() }) };
  const after = () => navigate("/memories/merges");
  const merged = content !== null && content !== survivor?.content ? { merged_content: content } : {};
  return (
    <Card title="Decision">
      <div className="stack">
        <TextArea
          key={survivor?.id}
          label="Content of the kept memory"
          rows={5}
          value={content ?? survivor?.content ?? ""}
          onChange={setContent}
          hint="Add what only the other memory says."
        />
        <TextField label="Note" value={note} onChange={setNote} placeholder="Optional" maxLength={2000} />
        <div className="row">
          <ActButton
            label="Merge"
            kind="primary"
            disabled={!survivor}
            act={() => api.merges.resolve({ ...body, surviving_memory_id: survivor?.id ?? "", ...merged })}
            done={`Merged. “${survivor?.title}” is kept.`}
            after={after}
          />
          <ActButton
            label="Reject"
            act={() => api.merges.reject(body)}
            done="Rejected. This pair is not proposed again."
            after={after}
          />
          <span className="muted small">
            Merging retires the other memory; it stays in the lineage. This cannot be undone.
          </span>
        </div>
      </div>
    </Card>
  );
}
