import type { Kit } from "../../../test/support/kits.ts";
import { slackHeaders } from "../../../test/support/senders.ts";

export const kit: Kit = {
  access: `
approvals.answer_slack       public        -                  POST /slack/{tenant_slug}
approvals.set_slack          org-admins    admin              PUT /v1/approval-channels/slack
approvals.get_slack          org-admins    admin              GET /v1/approval-channels/slack
approvals.delete_slack       org-admins    admin              DELETE /v1/approval-channels/slack
`,
  otherBodies: ["approvals.answer_slack"],
  signed: ["approvals.answer_slack"],
  noContent: { approval_slack: "assignees" },
  madeIds: ["approval_slack"],
  async settle({ admin, idOf }) {
    // Nothing is asked of this team.
    const assignees = [await idOf("team")];
    const secrets = { webhook_url: "https://slack.invalid/hook", signing_secret: "secret-of-a-slack-app" };
    await admin.put("/approval-channels/slack", { ...secrets, assignees });
  },
  restarts: {
    "a question that was asked while Slack was down is posted": async (server) => {
      const { startEndpoint } = await import("../../../test/support/endpoint.ts");
      const { settle } = await import("../../../test/support/settle.ts");
      const { makeWorld, ok } = await import("../../../test/support/tenancy.ts");
      const slack = await startEndpoint();
      const { admin, agent } = await makeWorld(server, "asked-of-slack");
      const secrets = { webhook_url: slack.url, signing_secret: "secret-of-a-slack-app" };
      ok(await admin.put("/approval-channels/slack", secrets));
      await slack.stop();
      return {
        last: async () => void ok(await agent.post("/approvals", { title: "Ship it?", question: "q" })),
        check: async () => {
          await slack.start();
          await settle(() => slack.pushed.some(({ body }) => body.includes("Ship it?")));
          await slack.stop();
        },
      };
    },
  },
  async sealed(server, { admin, slug }) {
    const { expect } = await import("expect");
    const signing_secret = "secret-of-a-slack-app";
    await admin.put("/approval-channels/slack", { webhook_url: "http://127.0.0.1:9/hook", signing_secret });
    return async () => {
      const click = { type: "block_actions", user: { id: "U024BE7LH" }, actions: [{}] };
      const body = new URLSearchParams({ payload: JSON.stringify(click) }).toString();
      const signed = { method: "POST", headers: slackHeaders(signing_secret, body), body };
      expect((await fetch(`${server.root}/slack/${slug}`, signed)).status).toBe(200);
    };
  },
};
