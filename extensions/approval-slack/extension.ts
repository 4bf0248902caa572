import type { Extension } from "../../services/extensions.ts";
import * as contract from "./slack.contract.ts";
import { SlackChannelModel } from "./slack.model.ts";

export const extension: Extension = {
  about: "Posts questions to a Slack channel, where people answer them by buttons.",
  contracts: [contract],
  models: [SlackChannelModel],
  run: async () => {
    const { Slack } = await import("./slack.ts");
    return { hooks: (runtime) => ({ approvalChannels: [(approvals) => new Slack(runtime, approvals)] }) };
  },
};
