import type { Approval, ApprovalsAskParams, EvidenceCard } from "../generated/types.ts";
import { type Command, type Context, optionalChoice, readList, text, word } from "./command.ts";
import { readContent } from "./input.ts";
import { LIMIT, takeFirst } from "./paged.ts";
import { age, formatDetails } from "./table.ts";
import { readDuration, readTime, TIME_FORMS } from "./times.ts";
import { UsageError } from "./usage.ts";

const STATUSES = ["open", "answered", "expired", "canceled"] as const;
const KINDS = ["event", "memory", "output", "document", "link"] as const;
type Evidence = NonNullable<ApprovalsAskParams["evidence"]>;

const ask: Command = {
  takes: "TITLE [QUESTION]",
  does: "Asks people to approve or to decide. QUESTION is Markdown, or - for standard input; default: TITLE.",
  options: {
    choices: { value: "A,B", means: "the possible answers; default: approve,reject" },
    "no-text": { means: "an answer is a choice alone" },
    evidence: {
      value: "KIND:ID",
      repeated: true,
      means: `what it is based on: ${KINDS.join(", ")} and its id or address`,
    },
    to: { value: "ID,ID", means: "who may answer: users, teams or admins; default: admins" },
    run: { value: "ID", means: "the run that it belongs to" },
    step: { value: "KEY", means: "the step of the run" },
    subject: { value: "TEXT", means: "whom or what it is about" },
    at: { value: "TIME", means: `the deadline, ${TIME_FORMS}` },
    in: { value: "DURATION", means: "the deadline, such as 90s, 15m, 2h or 7d; default: 30d" },
    "on-deadline": { value: "CHOICE", means: "the answer at the deadline; default: expired" },
    "escalate-to": { value: "ID,ID", means: "who else may answer if nobody has by --escalate-after" },
    "escalate-after": { value: "DURATION", means: "when they may" },
  },
  examples: [
    "approval ask 'Refund order 1042?' 'The cup is **broken**.' --in 2h --on-deadline reject",
    "approval ask 'Which supplier?' --choices north,south --evidence output:suppliers",
  ],
  async run(context) {
    const asked = await context.client.approvals.ask(await readQuestion(context), { signal: context.signal });
    context.print(asked, formatLine(asked));
  },
};

const list: Command = {
  takes: "",
  does: "Lists approvals, newest first: an agent's own, or those that the person may answer.",
  options: { status: { value: STATUSES.join("|"), means: "only those with this status" }, ...LIMIT },
  async run(context) {
    const status = optionalChoice(context, "status", STATUSES);
    const found = await takeFirst(context, context.client.approvals.list, { ...(status && { status }) });
    context.table(
      found,
      found,
      [
        ["ID", ({ id }) => id],
        ["STATUS", ({ status, choice }) => choice ?? status],
        ["ASKED", ({ created_at }) => age(created_at)],
        ["UNTIL", ({ deadline_at }) => deadline_at],
        ["TITLE", ({ title }) => title],
      ],
      "No approvals.",
    );
  },
};

const show: Command = {
  takes: "ID",
  does: "Shows an approval: the question, the evidence with what has changed since, and the answer.",
  async run(context) {
    const how = { signal: context.signal };
    const [found, { evidence }] = await Promise.all([
      context.client.approvals.get(idOf(context), how),
      context.client.approvals.evidence(idOf(context), how),
    ]);
    context.print({ ...found, evidence }, () => shown(found, evidence));
  },
};

const answer: Command = {
  takes: "ID CHOICE [TEXT]",
  does: "Answers an approval. TEXT explains the choice; - reads it from standard input.",
  as: ["person"],
  examples: ["approval answer 0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f approve 'Only this time.'"],
  async run(context) {
    const [, , typed] = context.words;
    const params = {
      ...idOf(context),
      choice: word(context, 1, "CHOICE"),
      ...(typed !== undefined && { text: await readContent(context.host, typed) }),
    };
    const answered = await context.client.approvals.answer(params, { signal: context.signal });
    context.print(answered, formatLine(answered));
  },
};

const cancel: Command = {
  takes: "ID",
  does: "Cancels an open approval.",
  async run(context) {
    const canceled = await context.client.approvals.cancel(idOf(context), { signal: context.signal });
    context.print(canceled, formatLine(canceled));
  },
};

const receipt: Command = {
  takes: "ID",
  does: "Prints the signed receipt of an approval, a JWS.",
  async run(context) {
    const found = await context.client.approvals.receipt(idOf(context), { signal: context.signal });
    context.print(found, found.receipt);
  },
};

const idOf = (context: Context) => ({ id: word(context, 0, "ID") });

async function readQuestion(context: Context): Promise<ApprovalsAskParams> {
  const title = word(context, 0, "TITLE");
  const [, question = title] = context.words;
  const choices = readList(context, "choices");
  const assignees = readList(context, "to");
  const escalate_to = readList(context, "escalate-to");
  const deadline_at = readTime(context);
  const after = text(context, "escalate-after");
  const [run_id, step_key, subject] = ["run", "step", "subject"].map((name) => text(context, name));
  const on_deadline = text(context, "on-deadline");
  return {
    ...{ title, question: await readContent(context.host, question), evidence: readEvidence(context) },
    ...(choices && { choices }),
    ...(context.options["no-text"] === true && { text_allowed: false }),
    ...(assignees && { assignees }),
    ...(run_id && { run_id }),
    ...(step_key && { step_key }),
    ...(subject && { subject }),
    ...(deadline_at && { deadline_at }),
    ...(on_deadline && { on_deadline }),
    ...(escalate_to && { escalate_to }),
    ...(after && { escalate_after_seconds: readDuration(context, "escalate-after", after) / 1000 }),
  };
}

/** @throws UsageError */
function readEvidence({ options }: Context): Evidence {
  return [options.evidence ?? []].flat().map((each) => {
    const [, kind, id] = /^(\w+):(.+)$/s.exec(String(each)) ?? [];
    if (id === undefined || !KINDS.includes(kind as never))
      throw new UsageError(`--evidence is ${each}: expected KIND:ID, with a kind of ${KINDS.join(", ")}.`);
    return { kind: kind as Evidence[number]["kind"], id };
  });
}

const formatLine = ({ id, status, choice }: Approval) => `${id} ${status}${choice ? `: ${choice}` : ""}`;

function shown(approval: Approval, evidence: EvidenceCard[]): string {
  const { choice, choices, on_deadline, text, answered_by, answered_by_user_id, answered_by_slack_user } =
    approval;
  const isOpen = approval.status === "open";
  const details = formatDetails([
    ["Approval", approval.id],
    ["Title", approval.title],
    ["Asked by", approval.agent_id ?? approval.user_id],
    ["Status", approval.status],
    ["Choices", choices.join(", ")],
    ["May answer", approval.assignees.join(", ")],
    ["Until", approval.deadline_at],
    ["If nobody answers", isOpen ? (choices.includes(on_deadline) ? on_deadline : "it expires") : null],
    ["Answer", choice],
    ["Text", text],
    [
      "Answered by",
      answered_by && `${answered_by_user_id ?? answered_by_slack_user ?? "nobody"} (${answered_by})`,
    ],
  ]);
  return [details, approval.question, ...evidence.map(formatEvidence)].join("\n\n");
}

const MOST_LINES = 5;

/** A piece of evidence: its kind and id, title, what has changed since the question was asked, and its text. */
function formatEvidence({ kind, id, title, state, text, current }: EvidenceCard): string {
  const head = [`${kind}:${id}`, title !== id && title, state && `(${state})`].filter(Boolean).join(" ");
  const newer = current && [`Now: ${current.id === id ? "" : `${kind}:${current.id} `}${current.title}`];
  return [head, ...beginning(text), ...(newer ?? []), ...beginning(current?.text)].join("\n  ");
}

function beginning(text: string | null | undefined): string[] {
  const lines = text ? text.split("\n") : [];
  return lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), "…"] : lines;
}

export const APPROVALS: Record<string, Command> = {
  "approval ask": ask,
  "approval list": list,
  "approval show": show,
  "approval answer": answer,
  "approval cancel": cancel,
  "approval receipt": receipt,
};
