import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import type { Memory, MergeProposal } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Diff } from "../../ui/diff.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card } from "../../ui/page.tsx";
import { Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { readable, similarityInWords } from "./bulk.ts";
import { MERGE_TONE, Proposer } from "./merges.tsx";
import { Confidence, ScopeBadge, Tags } from "./words.tsx";
import "../../styles/search.css";
import "./memories.css";

interface Pair {
  proposal: MergeProposal;
  a: Memory | null;
  b: Memory | null;
}

/** Two memories side by side, to choose which to keep. */
export function Merge() {
  const { id = "" } = useParams();
  const pair = useFollowed(
    ["merge", "memory"],
    async (signal): Promise<Pair> => {
      const proposal = await api.merges.get({ id }, { signal });
      const [a, b] = await Promise.all([
        readable(proposal.memory_a_id, signal),
        readable(proposal.memory_b_id, signal),
      ]);
      return { proposal, a, b };
    },
    [id],
  );
  return (
    <DetailPage
      of={pair}
      kind="Merge proposal"
      above={{ "/memories": "Memories", "/memories/merges": "Merge proposals" }}
      titleOf={() => "Merge proposal"}
      stateOf={({ proposal: { status } }) => <Badge label={capitalised(status)} tone={MERGE_TONE[status]} />}
      lines={8}
    >
      {(data) => <Compare {...data} />}
    </DetailPage>
  );
}

function Compare({ proposal, a, b }: Pair) {
  const [survivor, setSurvivor] = useState(newer(a, b)?.id ?? "");
  const mayDecide = useSession().may("merges.resolve");
  const open = proposal.status === "open";
  return (
    <div className="stack">
      <p className="muted">
        Proposed <Time at={proposal.proposed_at} /> by <Proposer proposal={proposal} />
        {proposal.similarity !== null && `: ${similarityInWords(proposal.similarity)} similar`}.
        {proposal.resolution_note && ` “${proposal.resolution_note}”`}
      </p>
      <div className="sides">
        {[a, b].map((memory, at) => (
          <Side
            key={memory?.id ?? at}
            memory={memory}
            stays={proposal.surviving_memory_id === memory?.id}
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
          <Decide proposal={proposal} survivor={[a, b].find((memory) => memory?.id === survivor)} />
        ) : (
          <p className="muted">An admin of your organisation decides.</p>
        ))}
    </div>
  );
}

function newer(a: Memory | null, b: Memory | null): Memory | null {
  if (!a || !b) return a ?? b;
  return a.created_at > b.created_at ? a : b;
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

function Decide({ proposal, survivor }: { proposal: MergeProposal; survivor: Memory | null | undefined }) {
  const [note, setNote] = useState("");
  const [content, setContent] = useState<string | null>(null);
  const navigate = useNavigate();
  const body = { id: proposal.id, ...(note.trim() && { resolution_note: note.trim() }) };
  const done = (title: string) => {
    toast({ title });
    navigate("/memories/merges");
  };
  const resolve = useTask(async () => {
    if (!survivor) return;
    const merged = content !== null && content !== survivor.content ? { merged_content: content } : {};
    await api.merges.resolve({ ...body, surviving_memory_id: survivor.id, ...merged });
    done(`Merged. “${survivor.title}” is kept.`);
  });
  const reject = useTask(async () => {
    await api.merges.reject(body);
    done("Rejected. This pair is not proposed again.");
  });
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
          <Button
            label="Merge"
            kind="primary"
            busy={resolve.busy}
            disabled={!survivor}
            onClick={() => resolve.run()}
          />
          <Button label="Reject" busy={reject.busy} onClick={() => reject.run()} />
          <span className="muted small">
            Merging retires the other memory; it stays in the lineage. This cannot be undone.
          </span>
        </div>
      </div>
    </Card>
  );
}
