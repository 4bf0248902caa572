import { SharedLoop } from "../../../mixins/shared.ts";
import type { EraseContent } from "../../erasers.ts";
import { action, event, idempotent, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./approvals.contract.ts";
import { present } from "./approvals.model.ts";
import { Approvals } from "./approvals.ts";
import * as link from "./links.contract.ts";
import { Links } from "./links.ts";
import { Mails } from "./mail.ts";
import { work } from "./relay.ts";
import * as slackContract from "./slack.contract.ts";
import { Slack } from "./slack.ts";
import { SlackAnswers } from "./slack-answers.ts";
import { SlackSender } from "./slack-sender.ts";

const LOOK_MS = 1000;

/** Questions that people answer for agents, in the console, by links in e-mails, or in Slack. */
export const approvalsService: ServiceFactory = (runtime) => {
  const { store, secrets } = runtime;
  const approvals = new Approvals(store, () => {
    loop.nudge();
    mailing.nudge();
    posting.nudge();
  });
  const links = new Links(approvals, secrets);
  const mails = new Mails(approvals, links, runtime);
  const loop = new SharedLoop(
    "outbox",
    (broker) => work(approvals, broker),
    LOOK_MS,
    "approvals: events could not be published, or deadlines applied; the next sweep retries",
  );
  const mailing = new SharedLoop(
    "mail",
    (broker) => mails.work(broker),
    LOOK_MS,
    "approvals: e-mails could not be sent; this will be retried",
  );
  const slack = new Slack(runtime);
  const slackAnswers = new SlackAnswers(approvals, slack);
  const slackSender = new SlackSender(runtime, approvals, slack);
  const posting: SharedLoop = new SharedLoop(
    "slack",
    (broker) => slackSender.work(broker, () => posting.nudge()),
    LOOK_MS,
    "approvals: messages to Slack could not be read; the next sweep retries",
  );
  const stop = () => slackSender.stop();

  return {
    name: "approvals",
    mixins: [loop.mixin, mailing.mixin, posting.mixin],
    actions: {
      ask: action(contract.askApproval, (ctx) => approvals.ask(ctx)),
      list: action(contract.listApprovals, (ctx) => approvals.list(ctx)),
      get: action(contract.getApproval, async (ctx) => present(await approvals.require(ctx, ctx.params.id))),
      answer: action(contract.answerApproval, (ctx) => approvals.answer(ctx)),
      cancel: action(contract.cancelApproval, (ctx) => approvals.cancel(ctx)),
      receipt: action(contract.getReceipt, async (ctx) => {
        const approval = await approvals.statement(ctx);
        const claims = { tenant_id: approval.tenant_id, approval };
        return { id: approval.id, receipt: await ctx.call("auth.sign_receipt", { claims }) };
      }),
      open_link: action(link.openLink, (ctx) => links.open(ctx)),
      answer_link: action(link.answerByLink, (ctx) => links.answer(ctx)),
      set_slack: action(slackContract.setSlack, (ctx) => slack.set(ctx)),
      get_slack: action(slackContract.getSlack, (ctx) => slack.get(ctx)),
      delete_slack: action(slackContract.deleteSlack, (ctx) => slack.delete(ctx)),
      answer_slack: action(slackContract.answerBySlack, (ctx) => slackAnswers.answer(ctx)),
      erase: idempotent<EraseContent>(({ params }) => approvals.erase(params)),
    },
    // Before the services that messages need stop.
    events: { "node.stopping": event(stop) },
    async started() {
      if (store.driver === "sqlite") await slackSender.reclaim();
    },
    stopped: stop,
  };
};
