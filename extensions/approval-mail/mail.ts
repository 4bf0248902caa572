import type { Config } from "../../config.ts";
import { messageId, sendMail } from "../../connectors/mail.ts";
import { isFault } from "../../lib/contract/faults.ts";
import { quoteAsData, summarise } from "../../lib/text/quoted.ts";
import type { TenantState } from "../../services/identity/tenants/tenants.contract.ts";
import type { UserState } from "../../services/identity/users/users.contract.ts";
import { action } from "../../services/runtime.ts";
import type { ApprovalDoc } from "../../services/work/approvals/approvals.model.ts";
import { parseAsked, peopleOf } from "../../services/work/approvals/assignees.ts";
import type { ApprovalChannel, Question } from "../../services/work/approvals/channel.ts";
import * as contract from "./links.contract.ts";
import type { Links } from "./links.ts";

/** Of a choice before its link, in characters. */
const MOST_OF_CHOICE = 200;

/** Asks the assignees by e-mail, with a link for each choice. A repeated e-mail has the same id. */
export class Mail implements ApprovalChannel {
  readonly #config: Config;
  readonly #links: Links;
  readonly actions;

  constructor(config: Config, links: Links) {
    this.#config = config;
    this.#links = links;
    this.actions = {
      open_link: action(contract.readApprovalLink, (ctx) => links.open(ctx)),
      answer_link: action(contract.answerByApprovalLink, (ctx) => links.answer(ctx)),
    };
  }

  async send({ broker, row, tenant, origin, tell }: Question): Promise<null> {
    const { SMTP_URL: url, SMTP_FROM: from } = this.#config;
    if (!url || !from) return null;
    const { tenant_id, assigned, told } = row;
    const people = await peopleOf(broker, tenant_id, assigned);
    for (const person of people.filter(({ id }) => !told.includes(id))) {
      await broker.call("outputs.take_mail", { tenant_id });
      await sendMail({ url, from }, this.#mailFor(row, { person, tenant }, origin, from)).catch((err) => {
        // An unreachable person gets no further e-mail; another failure is retried.
        if (!isFault(err) || err.type !== "business_rule_violation") throw err;
      });
      await tell(person.id);
    }
    return null;
  }

  #mailFor(row: ApprovalDoc, to: { person: UserState; tenant: TenantState }, origin: string, from: string) {
    const { id, email } = to.person;
    const { title, question, choices } = parseAsked(row);
    const links = choices.map(
      (choice, position) =>
        `${summarise(choice, MOST_OF_CHOICE)}:
${origin}/answer#${this.#links.token(row, to.person, to.tenant, position)}`,
    );
    const text = [
      ...["The text between the fences is the question, as it was asked:", "", quoteAsData(question), ""],
      ...["Answer by one of these links, which are for you alone; each asks you to confirm:"],
      ...["", ...links, "", `Or in the console: ${origin}/approvals/${row._id}`],
      ...["", `Open until ${row.deadline_at.toISOString()}.`, ""],
    ].join("\n");
    return { to: email, subject: title, text, messageId: messageId(from, `approval ${row._id} ${id}`) };
  }
}
