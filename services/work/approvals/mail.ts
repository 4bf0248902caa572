import type { ServiceBroker } from "moleculer";
import { messageId, sendMail } from "../../../connectors/mail.ts";
import { isFault } from "../../../lib/contract/faults.ts";
import { eachInTurn } from "../../../mixins/loop.ts";
import { originOf } from "../../identity/tenants/origin.ts";
import type { UserState } from "../../identity/users/users.contract.ts";
import type { Runtime } from "../../runtime.ts";
import { type ApprovalDoc, parseAsked } from "./approvals.model.ts";
import type { Approvals } from "./approvals.ts";
import { peopleOf } from "./assignees.ts";
import type { Links } from "./links.ts";

const BATCH = 10;
/** After it another node sends what this one did not, and a server that refused is tried again. */
const LEASE_MS = 60_000;

/** Sends each assignee an e-mail with a link for each choice. A repeated one has the same id. */
export class Mails {
  readonly #approvals: Approvals;
  readonly #links: Links;
  readonly #runtime: Runtime;

  constructor(approvals: Approvals, links: Links, runtime: Runtime) {
    this.#approvals = approvals;
    this.#links = links;
    this.#runtime = runtime;
  }

  /** @returns whether there may be more */
  async work(broker: ServiceBroker): Promise<boolean> {
    const { SMTP_URL, SMTP_FROM } = this.#runtime.config;
    if (!SMTP_URL || !SMTP_FROM) return false;
    const { rows, now } = this.#approvals;
    const due = { mail_at: { $lte: new Date(now()) } };
    const found = await rows.findAnyWithin(due, { sort: { mail_at: 1 }, limit: BATCH });
    await eachInTurn(found.rows, (row) => this.#send(broker, row, { url: SMTP_URL, from: SMTP_FROM }));
    return found.more || found.rows.length === BATCH;
  }

  async #send(broker: ServiceBroker, found: ApprovalDoc, server: { url: string; from: string }) {
    const { rows, now } = this.#approvals;
    const { tenant_id, _id, mail_at } = found;
    const lease = new Date(now() + LEASE_MS);
    const row = await rows.update(tenant_id, { _id, mail_at }, { $set: { mail_at: lease } });
    if (!row) return;
    const people = await peopleOf(broker, tenant_id, row.assigned);
    for (const person of people.filter(({ id }) => !row.mailed.includes(id))) {
      await broker.call("outputs.take_mail", { tenant_id });
      await sendMail(server, await this.#mail(broker, row, person, server.from)).catch((err) => {
        // Who cannot be reached gets no further e-mail; another failure is retried.
        if (!isFault(err) || err.type !== "business_rule_violation") throw err;
      });
      await rows.update(tenant_id, { _id }, { $addToSet: { mailed: person.id } });
    }
    await rows.update(tenant_id, { _id, mail_at: lease }, { $unset: { mail_at: 1 } });
  }

  async #mail(broker: ServiceBroker, row: ApprovalDoc, { id, email }: UserState, from: string) {
    const { title, question, choices } = parseAsked(row);
    const origin = await originOf(broker, this.#runtime.config);
    const links = choices.map(
      (choice, position) => `${choice}:\n${origin}/answer#${this.#links.token(row, id, position)}`,
    );
    const text = [
      ...[question, "", "Answer by one of these links, which are for you alone; each asks you to confirm:"],
      ...["", ...links, "", `Or in the console: ${origin}/approvals/${row._id}`],
      ...["", `Open until ${row.deadline_at.toISOString()}.`, ""],
    ].join("\n");
    return { to: email, subject: title, text, messageId: messageId(from, `approval ${row._id} ${id}`) };
  }
}
