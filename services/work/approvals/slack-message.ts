import { type ApprovalDoc, parseAsked } from "./approvals.model.ts";

/** A message of Slack's Block Kit. */
export type SlackMessage = Record<string, unknown>;

/** Below Slack's limits of a header and of a section. */
const MOST_TITLE = 150;
const MOST_TEXT = 2900;

/** Slack shows a plain text as it is: it contains no link and mentions nobody. */
const plain = (text: string, most = MOST_TEXT) => ({
  type: "plain_text",
  text: text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text,
  emoji: false,
});
const header = (title: string) => ({ type: "header", text: plain(title, MOST_TITLE) });
const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** Returns the question with a button for each choice, whose value is the approval's id and the choice's position. */
export function questionMessage(doc: ApprovalDoc, origin: string): SlackMessage {
  const { title, question, choices, text_allowed, evidence } = parseAsked(doc);
  const based = evidence.map(({ kind, id }) => `${kind} ${id}`).join("\n");
  const until = `Open until ${doc.deadline_at.toISOString()}.`;
  const buttons = choices.map((choice, position) => ({
    ...{
      type: "button",
      text: plain(choice),
      action_id: `choice_${position}`,
      value: `${doc._id}.${position}`,
    },
  }));
  const console = {
    ...{ type: "button", text: plain(text_allowed ? "Answer with a text" : "Open") },
    ...{ action_id: "console", url: `${origin}/approvals/${doc._id}` },
  };
  return {
    text: escaped(title),
    blocks: [
      header(title),
      { type: "section", text: plain(question) },
      ...(based ? [{ type: "section", text: plain(`Evidence:\n${based}`) }] : []),
      {
        type: "context",
        elements: [plain(doc.escalated_at ? `Escalated: nobody has answered yet. ${until}` : until)],
      },
      { type: "actions", elements: [...buttons, console] },
    ],
  };
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
    blocks: [header(title), { type: "section", text: { type: "mrkdwn", text: outcome } }],
  };
}

/** Returns a note to the person who clicked; the message stays. */
export function noteMessage(text: string): SlackMessage {
  return { response_type: "ephemeral", replace_original: false, text };
}
