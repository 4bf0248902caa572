import type { Call, RequestContext } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import type { CallOf } from "../../runtime.ts";
import { type ApprovalDoc, parseAsked } from "./approvals.model.ts";
import { type Approvals, requireFitting } from "./approvals.ts";
import { peopleOf } from "./assignees.ts";
import type * as contract from "./links.contract.ts";

const PURPOSE = "approval link";
const DIGEST_BYTES = 24;

/** A link that was opened, with the person and the choice that it stands for. */
interface Opened {
  doc: ApprovalDoc;
  user_id: string;
  choice: string;
}

/**
 * Answers by links. A link names an approval, a person and a choice, with a keyed digest of them; it is used up once the
 * approval is not open any more.
 */
export class Links {
  readonly #approvals: Approvals;
  readonly #secrets: SecretBox;

  constructor(approvals: Approvals, secrets: SecretBox) {
    this.#approvals = approvals;
    this.#secrets = secrets;
  }

  /** Returns the credential of a person's link for a choice, by the choice's position. */
  token({ tenant_id, _id }: ApprovalDoc, user_id: string, position: number): string {
    const named = `${tenant_id}.${_id}.${user_id}.${position}`;
    return `${named}.${this.#secrets.digest(DIGEST_BYTES, PURPOSE, named)}`;
  }

  async open(ctx: CallOf<typeof contract.readApprovalLink>) {
    const { doc, choice } = await this.#require(ctx, ctx.params.token);
    const { title, question, text_allowed, evidence } = parseAsked(doc);
    return { title, question, choice, text_allowed, evidence, deadline_at: doc.deadline_at.toISOString() };
  }

  async answer(ctx: CallOf<typeof contract.answerByApprovalLink>) {
    const { token, text } = ctx.params;
    const { doc, user_id, choice } = await this.#require(ctx, token);
    const decision = { choice, answer_text: text || null };
    requireFitting(doc, decision);
    const by = { answered_by_user_id: user_id, answered_by: "link" as const };
    if (!(await this.#approvals.settle(doc, "answered", { ...decision, ...by }))) throw invalid();
    const { tenant_id, _id: resource_id } = doc;
    await ctx.call("audit.record", {
      ...{ tenant_id, action: "approvals.answer_link", resource_type: "approval", resource_id },
      ...{ actor_kind: "user", actor_id: user_id, details: { choice }, dedupe: resource_id },
    });
    return { title: parseAsked(doc).title, choice };
  }

  /** @throws Fault not_found, the same for unknown, used and expired links */
  async #require(ctx: Pick<RequestContext, "call"> & Pick<Call, "meta">, token: string): Promise<Opened> {
    const [tenant_id = "", _id = "", user_id = "", position = "", digest = ""] = token.split(".");
    const named = `${tenant_id}.${_id}.${user_id}.${position}`;
    if (!this.#secrets.isDigest(digest, DIGEST_BYTES, PURPOSE, named)) throw invalid();
    const { rows, now } = this.#approvals;
    const open = { _id, status: "open" as const, deadline_at: { $gt: new Date(now()) } };
    const doc = await rows.findOne(tenant_id, open);
    const choice = doc && parseAsked(doc).choices[Number(position)];
    if (!doc || !choice) throw invalid();
    // Who has left, or is not assigned any more, answers nothing.
    const people = await peopleOf(ctx, tenant_id, doc.assigned);
    if (!people.some(({ id }) => id === user_id)) throw invalid();
    return { doc, user_id, choice };
  }
}

function invalid(): Fault {
  const message = "The link is not valid: it was used, the question is closed, or it was never issued.";
  return new Fault("not_found", message, { resource_type: "approval_link", resource_id: "" });
}
