import type { Call, RequestContext } from "../../lib/access/caller.ts";
import { Fault } from "../../lib/contract/faults.ts";
import type { SecretBox } from "../../lib/crypto/secrets.ts";
import { stands } from "../../services/identity/keys/versions.ts";
import { findTenant } from "../../services/identity/tenants/find-tenants.ts";
import type { TenantState } from "../../services/identity/tenants/tenants.contract.ts";
import type { UserState } from "../../services/identity/users/users.contract.ts";
import type { CallOf } from "../../services/runtime.ts";
import type { ApprovalDoc } from "../../services/work/approvals/approvals.model.ts";
import { requireFitting } from "../../services/work/approvals/approvals.ts";
import { parseAsked, peopleOf } from "../../services/work/approvals/assignees.ts";
import type { Settling } from "../../services/work/approvals/channel.ts";
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
 * Answers by links. A link names an approval, a person, a choice and the versions of tenant and person, with a keyed digest of them; it is used up once the
 * approval is not open any more.
 */
export class Links {
  readonly #approvals: Settling;
  readonly #secrets: SecretBox;

  constructor(approvals: Settling, secrets: SecretBox) {
    this.#approvals = approvals;
    this.#secrets = secrets;
  }

  /** Returns the credential of a person's link for a choice, by the choice's position. */
  token({ tenant_id, _id }: ApprovalDoc, person: UserState, tenant: TenantState, position: number): string {
    const versions = `${tenant.token_version}-${person.disablings}`;
    const named = `${tenant_id}.${_id}.${person.id}.${position}.${versions}`;
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
    const parts = token.split(".");
    const digest = parts.pop() ?? "";
    if (!this.#secrets.isDigest(digest, DIGEST_BYTES, PURPOSE, parts.join("."))) throw invalid();
    // Links of earlier builds are without versions.
    const [tenant_id = "", _id = "", user_id = "", position = "", versions = "0-0"] = parts;
    const { rows, now } = this.#approvals;
    const open = { _id, status: "open" as const, deadline_at: { $gt: new Date(now()) } };
    const doc = await rows.findOne(tenant_id, open);
    const choice = doc && parseAsked(doc).choices[Number(position)];
    if (!doc || !choice) throw invalid();
    // People who left, or are not assigned any more, answer nothing.
    const [people, tenant] = await Promise.all([
      peopleOf(ctx, tenant_id, doc.assigned),
      findTenant(ctx, tenant_id),
    ]);
    const person = people.find(({ id }) => id === user_id);
    const [issuedIn, issuedTo] = versions.split("-").map(Number);
    const current = { tenant: tenant?.token_version, user: person?.disablings };
    if (!stands({ tenant: issuedIn, user: issuedTo }, current)) throw invalid();
    return { doc, user_id, choice };
  }
}

function invalid(): Fault {
  const message = "The link is not valid: it was used, the question is closed, or it was never issued.";
  return new Fault("not_found", message, { resource_type: "approval_link", resource_id: "" });
}
