import type { Extension } from "../../services/extensions.ts";
import * as contract from "./links.contract.ts";

export const extension: Extension = {
  about: "Asks people by e-mail, with a link for each answer.",
  contracts: [contract],
  run: async () => {
    const { Links } = await import("./links.ts");
    const { Mail } = await import("./mail.ts");
    return {
      hooks: ({ config, secrets }) => ({
        approvalChannels: [(approvals) => new Mail(config, new Links(approvals, secrets))],
      }),
    };
  },
};
