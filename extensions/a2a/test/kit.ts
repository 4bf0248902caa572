import { randomUUID } from "node:crypto";
import type { Task } from "@a2a-js/sdk";
import { newAgent } from "../../../test/support/agents.ts";
import type { Kit } from "../../../test/support/kits.ts";
import { settle } from "../../../test/support/settle.ts";

const HEADERS = { "a2a-version": "1.0" };
const LONG = "x".repeat(350_000);
const SCOPES = ["send", "receive"];

const request = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
const message = (more: object) => ({
  ...{ role: "ROLE_USER", messageId: randomUUID(), parts: [{ text: "Go on." }] },
  ...more,
});
/** Sends a task without waiting for its agent. */
const sending = (more: object) =>
  request("SendMessage", { message: message(more), configuration: { returnImmediately: true } });

export const kit: Kit = {
  access: `
# A2A: sending a task is publishing, having been given one is receiving.
a2a.catalog                  everyone      send               GET /.well-known/ai-catalog.json
a2a.card                     public        -                  GET /a2a/{agent_id}/.well-known/agent-card.json
gateway.a2a                  everyone      send               POST /a2a/{agent_id}
a2a_tasks.get                agents        receive       tool GET /v1/a2a-tasks/{task_id}
a2a_tasks.update             agents        receive       tool POST /v1/a2a-tasks/{task_id}/status
`,
  ...{ verbs: ["call"], otherBodies: ["gateway.a2a"], noContent: { a2a_push_configs: "url" } },
  computed: { a2a_push_configs: "queue", a2a_tasks: "queue" },
  maximal: {
    a2a_tasks: ({ task_json }) => {
      const history = [{ messageId: "m", role: "ROLE_USER", parts: [{ text: "x".repeat(480_000) }] }];
      return { task_json: JSON.stringify({ ...JSON.parse(task_json), history }) };
    },
  },
  makers: {
    /** A task that the tenant's agent sent to itself. */
    a2a_task: async ({ admin, agent, agentId, root }) => {
      await admin.patch(`/agents/${agentId}`, { a2a: true });
      const sent = sending({ parts: [{ text: "Hello" }] });
      return (await agent.post(`${root}/a2a/${agentId}`, sent, HEADERS)).body.result.task.id;
    },
  },
  streams: {
    "gateway.a2a": async (server, newTenant) => {
      /** A long task of a new caller, which all of its connections follow while it grows. */
      const followed = async (method: string, paramsFor: (task_id: string) => object) => {
        const { admin } = await newTenant();
        const worker = await newAgent(server, admin, SCOPES);
        const caller = await newAgent(server, admin, SCOPES);
        await admin.patch(`/agents/${worker.id}`, { a2a: true });
        const sent = sending({ parts: [{ text: LONG.slice(0, 300_000) }] });
        const { id } = (await caller.post(`${server.root}/a2a/${worker.id}`, sent, HEADERS)).body.result.task;
        const lengthen = async () => {
          for (let i = 0; i < 16; i++) {
            const artifacts = [{ artifact_id: "a", text: `${i} ${LONG}` }];
            const report = { state: "working", artifacts };
            // A node that is busy for a moment refuses writes.
            await settle(async () => (await worker.post(`/a2a-tasks/${id}/status`, report)).body.id === id);
          }
        };
        const path = { agent_id: worker.id };
        return {
          ...{ token: caller.token, headers: HEADERS, path, body: request(method, paramsFor(id)) },
          lengthen,
        };
      };
      return [
        await followed("SubscribeToTask", (id) => ({ id })),
        await followed("SendStreamingMessage", (taskId) => ({ message: message({ taskId }) })),
      ];
    },
  },
  restarts: {
    "an accepted message of A2A is delivered and answered": async (server, { admin }) => {
      const { expect } = await import("expect");
      const { a2aClient, a2aRequest, nextEvent } = await import("./client.ts");
      const [worker, caller] = [
        await newAgent(server, admin, ["receive"]),
        await newAgent(server, admin, ["send"]),
      ];
      await admin.patch(`/agents/${worker.id}`, { a2a: true });
      const client = await a2aClient(server, worker.id, caller.token);
      let task: Task;
      return {
        last: async () => {
          task = (await client.sendMessage(a2aRequest("crash"))) as Task;
        },
        check: async () => {
          expect(await nextEvent(worker)).toMatchObject({ type: "service.a2a.message", subject: task.id });
          const again = (await client.sendMessage(a2aRequest("crash"))) as Task;
          expect(again).toMatchObject({ id: task.id, contextId: task.contextId });
          expect((await worker.post(`/a2a-tasks/${task.id}/status`, { state: "completed" })).status).toBe(
            200,
          );
          const stream = client.resubscribeTask({ tenant: "", id: task.id });
          await expect(stream.next()).rejects.toThrow("final");
        },
      };
    },
    "a change of a task is notified, and one that a webhook has is not repeated": async (
      server,
      { admin },
    ) => {
      const { expect } = await import("expect");
      const { a2aClient, a2aRequest, nextEvent, pushConfig } = await import("./client.ts");
      const { startEndpoint } = await import("../../../test/support/endpoint.ts");
      const [known, away, others] = [await startEndpoint(), await startEndpoint(), await startEndpoint()];
      await away.stop();
      const worker = await newAgent(server, admin, ["receive"]);
      const caller = await newAgent(server, admin, ["send"]);
      await admin.patch(`/agents/${worker.id}`, { a2a: true });
      const client = await a2aClient(server, worker.id, caller.token);
      const credentials = "let-me-in-please";
      const taskWith = async (messageId: string, ...urls: string[]) => {
        const { id: taskId } = (await client.sendMessage(a2aRequest(messageId))) as Task;
        await nextEvent(worker);
        for (const [i, url] of urls.entries()) {
          const more = { id: `${i}`, taskId, authentication: { scheme: "Bearer", credentials } };
          await client.createTaskPushNotificationConfig(pushConfig(url, more));
        }
        return taskId;
      };
      const report = (id: string, state: string) => worker.post(`/a2a-tasks/${id}/status`, { state });
      const tasksOf = ({ pushed }: typeof known) => pushed.map(({ body }) => JSON.parse(body).task);
      const statesOf = (endpoint: typeof known) => tasksOf(endpoint).map(({ status }) => status.state);
      const task = await taskWith("crash-1", known.url, away.url);
      await report(task, "working");
      await settle(() => known.pushed.length === 1);
      const tasks = [await taskWith("crash-2", others.url), await taskWith("crash-3", others.url)];
      const [working, completed] = ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"];
      return {
        last: async () => {
          await Promise.all([task, ...tasks].map((id) => report(id, "completed")));
        },
        check: async () => {
          await away.start();
          await settle(() => tasks.every((id) => tasksOf(others).some((each) => each.id === id)));
          await settle(() => away.pushed.length > 0 && statesOf(known).at(-1) === completed);
          // The crash may have come before the answer was noted.
          expect([...new Set(statesOf(known))]).toEqual([working, completed]);
          expect([...new Set(statesOf(away))]).toEqual([completed]);
          expect(server.logs()).not.toContain(credentials);
          for (const endpoint of [known, away, others]) await endpoint.stop();
        },
      };
    },
  },
  async sealed(server, { admin, agentId, agentToken }) {
    const { expect } = await import("expect");
    const { a2aClient, a2aRequest, pushConfig } = await import("./client.ts");
    await admin.patch(`/agents/${agentId}`, { a2a: true });
    const client = await a2aClient(server, agentId, agentToken);
    const { id: taskId } = (await client.sendMessage(a2aRequest("task"))) as Task;
    const config = pushConfig("http://127.0.0.1:9/hook", { taskId, token: "a-token-of-the-hook" });
    await client.createTaskPushNotificationConfig(config);
    return async () => {
      const page = { tenant: "", taskId, pageSize: 0, pageToken: "" };
      expect((await client.listTaskPushNotificationConfig(page)).configs).toHaveLength(1);
    };
  },
};
