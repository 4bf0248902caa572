import { Fragment, useState } from "react";
import { Link, useParams } from "react-router";
import type { Approval, EvidenceCard } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, dateTime } from "../../data/format.ts";
import { isWebLink } from "../../data/links.ts";
import { useList, useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { useAddress } from "../../data/use-address.ts";
import { Button } from "../../ui/button.tsx";
import { Diff } from "../../ui/diff.tsx";
import { optionsOf, TextArea } from "../../ui/field.tsx";
import { SegmentsFilter } from "../../ui/filters.tsx";
import { ActButton } from "../../ui/form-dialog.tsx";
import { Inbox } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { OutsideLink } from "../../ui/outside-link.tsx";
import { Card, Empty, Facts, Page } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Badge, Copied, Time, type Tone, Who } from "../../ui/text.tsx";
import "./evidence.css";

const STATUSES = ["open", "answered", "expired", "canceled"] as const;
const TONE = { open: "warn", answered: "good", expired: "neutral", canceled: "neutral" } as const;

/** The questions that the person may answer, as cards. */
export function Approvals() {
  const [search] = useAddress();
  const status = STATUSES.find((each) => each === search.get("status")) ?? "open";
  const pages = useList(api.approvals.list, { status, limit: 20 }, "approvals", "approval");
  const { items = [], more, news } = pages;
  return (
    <Page title="Approvals" lead="Questions that agents and people ask. The first answer counts.">
      <div className="list-bar">
        <SegmentsFilter name="status" label="Status" options={optionsOf(STATUSES)} />
      </div>
      <Load of={{ ...pages, data: pages.items }}>
        {() => (
          <div className="stack">
            {news && <Button label={`Show ${news.count} new`} onClick={news.show} />}
            {items.map((approval) => (
              <Card
                key={approval.id}
                title={<Link to={`/approvals/${approval.id}`}>{approval.title}</Link>}
                actions={<Status of={approval} />}
              >
                <Question approval={approval} />
              </Card>
            ))}
            {items.length === 0 && (
              <Empty icon={Inbox} title={`No ${status} approvals`}>
                {status === "open" && "Questions that you may answer appear here."}
              </Empty>
            )}
            {more && <Button label="Show more" onClick={more} />}
          </div>
        )}
      </Load>
    </Page>
  );
}

export function ApprovalPage() {
  const { id = "" } = useParams();
  const approval = useRead(api.approvals.get, { id }, "approval");
  return (
    <DetailPage
      of={approval}
      kind="Approval"
      above={{ "/approvals": "Approvals" }}
      titleOf={({ title }) => title}
      stateOf={(approval) => <Status of={approval} />}
    >
      {(data) => (
        <Card>
          <Question approval={data} />
        </Card>
      )}
    </DetailPage>
  );
}

const Status = ({ of: { status } }: { of: Approval }) => (
  <Badge label={capitalised(status)} tone={TONE[status]} />
);

function Question({ approval }: { approval: Approval }) {
  const { id, status, question, evidence, run_id, choice, text } = approval;
  const escalation = approval.escalate_to.length > 0 && <Escalation of={approval} />;
  return (
    <div className="stack">
      <Markdown>{question}</Markdown>
      {evidence.length > 0 && <Evidence id={id} />}
      <Facts
        of={{
          "Asked by": <Who id={approval.agent_id ?? approval.user_id ?? ""} />,
          Asked: <Time at={approval.created_at} />,
          ...(status === "open" && escalation && { "Also asked": escalation }),
          Run: run_id && <Link to={`/runs/${run_id}`}>{approval.step_key ?? "Open"}</Link>,
          Answer: choice,
          Text: text,
          "Answered by": approval.answered_by && <Answerer of={approval} />,
        }}
      />
      {status === "open" ? (
        <>
          <Answer approval={approval} />
          <p className="muted small">
            If nobody answers by <Time at={approval.deadline_at} shown={dateTime} />: {silenceOf(approval)}.
          </p>
        </>
      ) : (
        <Receipt id={id} />
      )}
    </div>
  );
}

const silenceOf = ({ on_deadline, choices }: Approval) =>
  choices.includes(on_deadline) ? <strong>{on_deadline}</strong> : "the question expires without an answer";

/** The people who may also answer, and from when. */
function Escalation({ of: { escalate_to, escalate_at } }: { of: Approval }) {
  return (
    <>
      {escalate_to.map((id, at) => (
        <Fragment key={id}>
          {at > 0 && ", "}
          {id === "admins" ? id : <Who id={id} />}
        </Fragment>
      ))}
      {escalate_at && (
        <>
          {" "}
          from <Time at={escalate_at} shown={dateTime} />
        </>
      )}
    </>
  );
}

function Answerer({ of: { answered_by_user_id, answered_by_slack_user, answered_by } }: { of: Approval }) {
  if (answered_by_slack_user) return `the Slack user ${answered_by_slack_user}`;
  if (answered_by_user_id === null) return "the default at the deadline";
  return (
    <>
      <Who id={answered_by_user_id} />
      {answered_by === "link" && ", by a link"}
    </>
  );
}

function Answer({ approval }: { approval: Approval }) {
  const { id, choices, text_allowed, title, user_id } = approval;
  const { user } = useSession();
  const [text, setText] = useState("");
  const given = text.trim() && { text: text.trim() };
  const mayCancel = user.role === "admin" || user_id === user.id;
  return (
    <div className="stack">
      {text_allowed && (
        <TextArea label="Text" value={text} onChange={setText} rows={2} maxLength={8000} hint="Optional." />
      )}
      <div className="row">
        {choices.map((choice, at) => (
          <ActButton
            key={choice}
            label={capitalised(choice)}
            kind={at === 0 ? "primary" : "plain"}
            act={() => api.approvals.answer({ id, choice, ...given })}
            done={`Answered “${title}” with ${choice}.`}
          />
        ))}
        <span className="grow" />
        {mayCancel && (
          <ActButton
            label="Cancel question"
            kind="quiet"
            act={() => api.approvals.cancel({ id })}
            done={`“${title}” is canceled.`}
          />
        )}
      </div>
    </div>
  );
}

/** Loads the receipt once it is asked for. */
function Receipt({ id }: { id: string }) {
  const [receipt, setReceipt] = useState<string>();
  if (receipt !== undefined) return <Copied text={receipt} label="Copy receipt" />;
  return (
    <div className="row">
      <ActButton
        label="Show receipt"
        small
        act={async () => setReceipt((await api.approvals.receipt({ id })).receipt)}
      />
    </div>
  );
}

const PLACES = { event: "events", memory: "memories", output: "outputs", document: "documents" } as const;
const KINDS = Object.keys(PLACES) as (keyof typeof PLACES)[];

const STATES: Record<NonNullable<EvidenceCard["state"]>, { label: string; tone: Tone }> = {
  unchanged: { label: "Unchanged since asked", tone: "neutral" },
  changed: { label: "Changed since asked", tone: "warn" },
  superseded: { label: "Superseded", tone: "warn" },
  forgotten: { label: "Forgotten", tone: "bad" },
  unavailable: { label: "Deleted, or not shared with you", tone: "neutral" },
};

/** The evidence of a question as cards, with its changes since the question was asked. */
function Evidence({ id }: Pick<Approval, "id">) {
  const cards = useRead(api.approvals.evidence, { id }, ["approval", ...KINDS]);
  return (
    <Load of={cards}>
      {(read) => (
        <ul className="evidence" aria-label="Evidence">
          {read.evidence.map((card) => (
            <EvidenceItem key={`${card.kind} ${card.id}`} card={card} />
          ))}
        </ul>
      )}
    </Load>
  );
}

function EvidenceItem({ card }: { card: EvidenceCard }) {
  const { kind, id, state, text, title, current } = card;
  return (
    <li>
      <div className="row">
        <span className="muted small grow">{capitalised(kind)}</span>
        {state && <Badge {...STATES[state]} />}
      </div>
      <p className="evidence-title">
        <EvidenceLink kind={kind} id={id} label={title ?? id} />
      </p>
      {text && <p className={kind === "event" ? "evidence-text code" : "evidence-text"}>{text}</p>}
      {state === "changed" && !current && (
        <p className="muted small">This is its present text: the one before was not kept.</p>
      )}
      {current && (
        <details>
          <summary>What has changed</summary>
          {current.id !== id && (
            <p className="small">
              Now: <EvidenceLink kind={kind} id={current.id} label={current.title} />
            </p>
          )}
          <Diff before={text ?? ""} after={current.text} />
        </details>
      )}
    </li>
  );
}

function EvidenceLink({ kind, id, label }: Pick<EvidenceCard, "kind" | "id"> & { label: string }) {
  if (kind === "link") return isWebLink(id) ? <OutsideLink to={id}>{label}</OutsideLink> : id;
  return <Link to={`/${PLACES[kind]}/${id}`}>{label}</Link>;
}
