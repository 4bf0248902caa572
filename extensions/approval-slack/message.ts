import { grouped } from "../../lib/text/budget.ts";
import type { ApprovalDoc } from "../../services/work/approvals/approvals.model.ts";
import { parseAsked } from "../../services/work/approvals/assignees.ts";
import { escaped, splitText, toMrkdwn } from "./markdown.ts";

/** A message of Slack's Block Kit. */
export type SlackMessage = Record<string, unknown>;

/** Slack's limit of a header. */
const MOST_TITLE = 150;
/** Of a message: Slack refuses longer ones, and of more blocks. */
const MOST_OF_MESSAGE = 12_000;
const MOST_SECTIONS = 40;

/** Slack shows a plain text as it is: it contains no link and mentions nobody. */
const plain = (text: string) => ({ type: "plain_text", text, emoji: false });
const section = (text: string) => ({ type: "section", text: plain(text) });
/** `verbatim`: Slack turns no address or name in it into a link or a mention. */
const marked = (text: string) => ({ type: "section", text: { type: "mrkdwn", text, verbatim: true } });
const titleBlock = (title: string) =>
  title.length > MOST_TITLE ? section(title) : { type: "header", text: plain(title) };

/**
 * Returns the question with a button for each choice, whose value is the approval's id and the choice's position. Only who
 * sees all that is asked can answer there: a question that is too long for a message has its beginning and a link instead.
 */
export function questionMessage(doc: ApprovalDoc, origin: string): SlackMessage {
  const { title, question, choices, text_allowed, evidence } = parseAsked(doc);
  const based = evidence.map(({ kind, id }) => `${kind} ${id}`).join("\n");
  const until = `Open until ${doc.deadline_at.toISOString()}.`;
  const all = [
    ...toMrkdwn(question).map(marked),
    ...(based ? splitText(`Evidence:\n${based}`).map(section) : []),
  ];
  const shown = fitting(all);
  const isWhole = shown.length === all.length;
  const buttons = choices.map((choice, position) => ({
    ...{
      type: "button",
      text: plain(choice),
      action_id: `choice_${position}`,
      value: `${doc._id}.${position}`,
    },
  }));
  const label = isWhole ? (text_allowed ? "Answer with a text" : "Open") : "Read all of it and answer";
  const console = {
    ...{ type: "button", text: plain(label) },
    ...{ action_id: "console", url: `${origin}/approvals/${doc._id}` },
  };
  const size = grouped(question.length + based.length);
  const cut = `This is only the beginning: the question and its evidence have ${size} characters, too many for a message.`;
  return {
    text: escaped(title),
    blocks: [
      titleBlock(title),
      ...shown,
      ...(isWhole ? [] : [section(cut)]),
      {
        type: "context",
        elements: [plain(doc.escalated_at ? `Escalated: nobody has answered yet. ${until}` : until)],
      },
      { type: "actions", elements: [...(isWhole ? buttons : []), console] },
    ],
  };
}

/** Returns the first sections that a message has room for. */
function fitting<S extends { text: { text: string } }>(sections: S[]): S[] {
  let size = 0;
  const end = sections.findIndex(({ text }) => {
    size += text.text.length;
    return size > MOST_OF_MESSAGE;
  });
  return sections.slice(0, end === -1 ? MOST_SECTIONS : Math.min(end, MOST_SECTIONS));
}

/** Returns what replaces the question once it is answered. @param why the reason if the click came too late */
export function closedMessage(doc: ApprovalDoc, why?: string): SlackMessage {
  const { title } = parseAsked(doc);
  const outcome =
    why === undefined
      ? `Answered with *${escaped(doc.choice ?? "")}* by <@${doc.answered_by_slack_user}>.`
      : escaped(why);
  return {
    ...{ replace_original: true, text: `${escaped(title)}: ${outcome}` },
    blocks: [titleBlock(title), marked(outcome)],
  };
}

/** Returns a note to the person who clicked; the message stays. */
export function noteMessage(text: string): SlackMessage {
  return { response_type: "ephemeral", replace_original: false, text };
}
