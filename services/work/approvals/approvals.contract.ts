import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Id, page, SomeText, Timestamp, Uuid, Whole, Words } from "../../../lib/contract/schema.ts";

export const STATUSES = ["open", "answered", "expired", "canceled"] as const;

/** How an answer was given; `deadline`: the default of `on_deadline`. */
export const WAYS = ["signed_in", "link", "slack", "deadline"] as const;

const EVIDENCE_KINDS = ["event", "memory", "output", "document", "link"] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/** Stands for all org admins among assignees. */
export const ADMINS = "admins";
/** Outcome at the deadline without a default answer. */
export const EXPIRED = "expired";

const Seconds = (description: string) => Whole({ minimum: 1, maximum: 90 * 24 * 3600, description });

const path = { id: Uuid("approval") };

const Choice = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: "^\\S([^\\r\\n]*\\S)?$",
  description: "One of the choices.",
  examples: ["approve"],
});
const Text = AnyText(8000, "The answer in words.", "Only for March.");

const Evidence = component("Evidence", {
  kind: oneOf(EVIDENCE_KINDS, { description: "What it is." }),
  id: SomeText(
    2000,
    "Its id; the address of a `link`: http or https.",
    "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f",
  ),
});

const Digested = component("DigestedEvidence", {
  ...Evidence.properties,
  sha256: nullable(
    Type.String({
      description:
        "SHA-256 in hex of the content when the question was asked: the envelope of an event as JSON, the text of a " +
        "memory or an output, the file of a document. Null for a link.",
    }),
  ),
});

export const EvidenceNow = component("EvidenceNow", {
  id: Type.String(),
  title: Type.String(),
  text: Type.String(),
});

const EVIDENCE_STATES = ["unchanged", "changed", "superseded", "forgotten", "unavailable"] as const;

export const EvidenceCard = component("EvidenceCard", {
  ...Digested.properties,
  state: nullable(
    oneOf(EVIDENCE_STATES, {
      description:
        "Its state compared with the time of the question. `superseded`: something newer replaces it. " +
        "`unavailable`: it was deleted, or the caller may not read it. Null for a link.",
    }),
  ),
  title: nullable(Type.String({ description: "Title, type of the event, file name or address." })),
  text: nullable(
    Type.String({
      description:
        "The text as it was when the question was asked, or as it is now where that is not kept: at most 2,000 " +
        "characters, of a changed text from where it differs. Of an event its data as JSON.",
    }),
  ),
  current: nullable({
    ...EvidenceNow,
    description: "Its present text, if that differs and `text` is older.",
  }),
});

export const Assignees = (minItems: 0 | 1, description: string) =>
  Type.Array(
    Type.String({
      pattern: "^(admins|(usr|team)_[A-Za-z0-9_-]{1,64})$",
      "x-expected": "the id of a user or a team, or `admins`",
      examples: ["usr_4fXq1mCz8Jw0bT7kLr2N"],
    }),
    { minItems, maxItems: 50, uniqueItems: true, description },
  );

const Title = Type.String({
  minLength: 1,
  maxLength: 300,
  pattern: "^[^\\r\\n]*\\S[^\\r\\n]*$",
  description: "What is asked, in a line.",
  examples: ["Refund order 1042?"],
});
const Question = Words(
  16_000,
  "The question, in Markdown.",
  "The customer reports a **broken** cup. Refund 18 EUR?",
);
const StepKey = SomeText(200, "Key of the run's step.");
const Subject = SomeText(
  1000,
  "The person or thing that it is about; erasing the subject erases the approval.",
  "customer:42",
);

export const Approval = component("Approval", {
  id: Uuid("approval"),
  tenant_id: Id("tn"),
  agent_id: nullable(Id("ag", "The agent that asks; null if a person does.")),
  user_id: nullable(Id("usr", "The person who asks; null if an agent does.")),
  status: oneOf(STATUSES, { description: "`expired`: the deadline passed without an answer." }),
  title: Title,
  question: Question,
  choices: Type.Array(Choice),
  text_allowed: Type.Boolean(),
  evidence: Type.Array(Digested),
  run_id: nullable(Uuid("run")),
  step_key: nullable(StepKey),
  subject: nullable(Subject),
  assignees: Type.Array(Type.String()),
  deadline_at: Timestamp,
  on_deadline: Type.String({ description: "The choice that is the answer at the deadline, or `expired`." }),
  escalate_to: Type.Array(Type.String()),
  escalate_at: nullable(Timestamp),
  escalated_at: nullable(Timestamp),
  choice: nullable(Choice),
  text: nullable(Text),
  answered_by_user_id: nullable(
    Id("usr", "Null before the answer, for an answer in Slack, and for the default answer."),
  ),
  answered_by_slack_user: nullable(
    Type.String({ description: "Slack's id of the person who answered there.", examples: ["U024BE7LH"] }),
  ),
  answered_by: nullable(oneOf(WAYS, { description: "How the answer was given." })),
  settled_at: nullable(Timestamp),
  created_at: Timestamp,
});

const { id, run_id, step_key, choice, answered_by_user_id } = Approval.properties;

/** The data of `service.approval.*`. */
export const ApprovalChange = component("ApprovalChange", {
  ...{ approval_id: id, run_id, step_key, choice, answered_by_user_id },
});

export const askForApproval = operation({
  action: "approvals.ask",
  route: "POST /approvals",
  summary: "Ask people to approve or to decide",
  description:
    "The assignees answer in the console, by a link in an e-mail if the operator has configured a mail server, or in " +
    "Slack if an admin has. The first answer counts. The answer is published as `service.approval.answered`, and delivered to the agent that " +
    "asks, whatever its interests.",
  access: { by: "any", scope: "send" },
  audit: true,
  needs: { "*": 1 },
  body: {
    title: Title,
    question: Question,
    ...optional({
      choices: Type.Array(Choice, {
        minItems: 1,
        maxItems: 10,
        uniqueItems: true,
        description: "The possible answers. Default: `approve` and `reject`.",
      }),
      text_allowed: Type.Boolean({ default: true, description: "Whether an answer may have a text." }),
      evidence: Type.Array(Evidence, {
        maxItems: 20,
        description: "What the question is based on. The caller must be able to read each.",
      }),
      run_id: nullable(Uuid("run", "The run that it belongs to.")),
      step_key: nullable(StepKey),
      subject: nullable(Subject),
      assignees: Assignees(
        1,
        "Who may answer: ids of users and teams, or `admins` (default). A team stands for the people who own an agent in it.",
      ),
      deadline_at: {
        ...Timestamp,
        description: "When it ends without an answer. Default: in 30 days.",
      },
      deadline_seconds: Seconds("Instead of `deadline_at`: seconds from now."),
      on_deadline: Type.String({
        maxLength: 60,
        default: EXPIRED,
        description: "The choice that is the answer at the deadline, or `expired`.",
      }),
      escalate_to: Assignees(0, "Who else may answer if nobody has by then."),
      escalate_after_seconds: Seconds("Seconds until then."),
    }),
  },
  results: { 201: Approval },
  errors: ["not_found", "business_rule_violation"],
  mcp: {
    idempotent: false,
    description:
      "Use this to ask people before you act, or to decide. Returns the approval with its id and status `open`. The answer arrives as the event `service.approval.answered`; `approvals_get` reads it too.",
  },
});

export const listApprovals = operation({
  action: "approvals.list",
  route: "GET /approvals",
  summary: "List approvals, newest first",
  description:
    "Use this to find what was asked. Returns an agent its own; people those that they asked or may answer, admins all.",
  access: { by: "any" },
  query: {
    status: Type.Optional(oneOf(STATUSES, { description: "Only approvals with this status." })),
    run_id: Type.Optional(Uuid("run", "Only approvals of this run.")),
    limit: page.limit,
    cursor: Type.Optional(AnyText(5000, "`next` of the previous page.")),
  },
  answer: Type.Object({
    approvals: Type.Array(Approval),
    next: nullable(Type.String({ description: "`cursor` of the next page; null on the last." })),
  }),
  mcp: true,
});

export const getApproval = operation({
  action: "approvals.get",
  route: "GET /approvals/{id}",
  summary: "Read an approval",
  description: "Use this to see whether an approval was answered. Returns its question, status and answer.",
  access: { by: "any" },
  path,
  answer: Approval,
  mcp: true,
});

export const readApprovalEvidence = operation({
  action: "approvals.evidence",
  route: "GET /approvals/{id}/evidence",
  summary: "Read what an approval is based on",
  description:
    "Returns the evidence in order with title and text, as far as the caller can read it, and what has changed since the " +
    "question was asked. Agents need the scope `memory:read` for memories, outputs and documents.",
  access: { by: "any" },
  path,
  answer: Type.Object({ evidence: Type.Array(EvidenceCard) }),
});

export const answerApproval = operation({
  action: "approvals.answer",
  route: "POST /approvals/{id}/answer",
  summary: "Answer an approval",
  description:
    "For the assignees and org admins. The first answer counts: later ones are refused with `conflict`, whose details " +
    "name who answered. Repeating one's own answer returns it.",
  access: { by: "user" },
  overQuota: true,
  path,
  body: { choice: Choice, text: Type.Optional(nullable(Text)) },
  answer: Approval,
  errors: ["conflict"],
});

export const cancelApproval = operation({
  action: "approvals.cancel",
  route: "POST /approvals/{id}/cancel",
  summary: "Cancel an approval",
  description: "For the asker and org admins. Repeating it returns the approval.",
  access: { by: "any", scope: "send" },
  overQuota: true,
  audit: true,
  path,
  answer: Approval,
  errors: ["forbidden", "conflict"],
});

export const getApprovalReceipt = operation({
  action: "approvals.receipt",
  route: "GET /approvals/{id}/receipt",
  summary: "Read the signed receipt of a settled approval",
  description:
    "Returns a JWS of the service (`/.well-known/jwks.json`): its claim `approval` has the question, the evidence with " +
    "digests, the outcome, who answered, when and how.",
  access: { by: "any" },
  path,
  answer: Type.Object({ id: Uuid("approval"), receipt: Type.String() }),
  errors: ["conflict"],
});
