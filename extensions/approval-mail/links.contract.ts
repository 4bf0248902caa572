import { Type } from "typebox";
import { component, operation } from "../../lib/contract/contract.ts";
import { SECRET } from "../../lib/contract/schema.ts";
import { Approval } from "../../services/work/approvals/approvals.contract.ts";

const Token = Type.String({
  minLength: 1,
  maxLength: 500,
  description: "The credential of the link: the part of its address after `#`.",
  examples: ["tn_8Gk2pQ.0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f.usr_4fXq1mCz.0.pVb3Zk9"],
  ...SECRET,
});
const { title, question, choice, text_allowed, evidence, deadline_at, text } = Approval.properties;

export const readApprovalLink = operation({
  action: "approvals.open_link",
  route: "POST /approval-links:open",
  summary: "Read the question of an answer link",
  description:
    "The link is the credential of one assignee for one choice. Reading answers nothing. Unknown, used and expired links " +
    "return the same 404.",
  access: { by: "public" },
  reads: true,
  body: { token: Token },
  answer: component("ApprovalLink", {
    title,
    question,
    choice: choice.anyOf[0],
    text_allowed,
    evidence,
    deadline_at,
  }),
  errors: ["not_found", "rate_limited"],
});

export const answerByApprovalLink = operation({
  action: "approvals.answer_link",
  route: "POST /approval-links:answer",
  summary: "Answer an approval by a link",
  description: "The answer is the link's choice, by the person whom the link was sent to.",
  access: { by: "public" },
  body: { token: Token, text: Type.Optional(text) },
  answer: Type.Object({ title, choice: choice.anyOf[0] }),
  errors: ["not_found", "validation_error", "rate_limited"],
});
