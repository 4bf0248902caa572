import { type Api, agentToken, api } from "../test/support/http.ts";
import { startServer } from "../test/support/server.ts";
import { settle } from "../test/support/settle.ts";
import { ok } from "../test/support/tenancy.ts";
import type { Part, Row } from "./lib/report.ts";

/** A usual job of an agent: the calls that it takes, each with its arguments. */
type Job = [name: string, run: (call: Call) => Promise<void>];

/** Calls a tool; returns its answer as a model reads it. */
type Call = (tool: string, args?: object) => Promise<string>;

/** How many tokens a model reads: its list of tools, and the answers of ten jobs. */
export const mcpPart: Part = {
  name: "mcp",
  title: "Tools of MCP",
  note: `Characters that a model reads: what \`tools/list\` gives, and the texts of the answers to the calls of ten jobs on the
same data. A token is about four characters.`,
  async run() {
    const server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" } });
    try {
      const agent = api(server, await agentToken(server, server.credentials.agent.api_key));
      const { run_id } = await furnish(agent, server.credentials.agent.id);
      const rows: Row[] = [
        {
          what: "tools/list, characters",
          figure: String(JSON.stringify((await rpc(agent, server.root, "tools/list")).tools).length),
          target: "≤ 24,000",
        },
      ];
      let total = 0;
      for (const [name, run] of jobs(run_id)) {
        let characters = 0;
        await run(async (tool, args = {}) => {
          const { content, isError } = await rpc(agent, server.root, "tools/call", {
            name: tool,
            arguments: args,
          });
          const text = content.map((part: { text: string }) => part.text).join("\n");
          if (isError) throw new Error(`${tool}: ${text}`);
          characters += text.length;
          return text;
        });
        total += characters;
        rows.push({ what: name, figure: String(characters) });
      }
      return [...rows, { what: "ten jobs together", figure: String(total) }];
    } finally {
      await server.stop();
    }
  },
};

async function rpc(agent: Api, root: string, method: string, params: object = {}) {
  const message = { jsonrpc: "2.0", id: 1, method, params };
  const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };
  const { body } = await agent.post(`${root}/mcp`, message, headers);
  // An answer is one event of a stream, or JSON.
  const { result, error } =
    typeof body === "string" ? JSON.parse(/^data: (.*)$/m.exec(body)?.[1] as string) : body;
  if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

async function furnish(agent: Api, agent_id: string) {
  ok(await agent.post(`/agents/${agent_id}/interests`, { event_type: "com.example.order.*" }));
  for (let n = 0; n < 12; n++) {
    const content = `Customer ${n} pays its invoices within ${10 + n} days, as agreed in the contract of ${2010 + n}.`;
    ok(
      await agent.post("/memories", {
        ...{
          title: `Terms of customer ${n}`,
          content,
          type: "semantic",
          scope: "institutional",
          tags: ["terms"],
        },
      }),
    );
    ok(
      await agent.post("/outputs", {
        body: `# Report ${n}\n\nInvoices of customer ${n} in May.`,
        scope: "institutional",
      }),
    );
  }
  const text = `# Pumps\n\n${"How to start the pump safely. ".repeat(60)}`;
  const content = Buffer.from(text).toString("base64");
  ok(
    await agent.post("/documents", {
      filename: "pump.md",
      mime_type: "text/markdown",
      file_content: content,
    }),
  );
  const steps = ["draft", "review", "publish"].map((step_key, at, all) => ({
    ...{ step_key, title: `The ${step_key}`, instructions: `Write the ${step_key} as the guide says.` },
    ...{ completion_mode: "attestation", depends_on: at ? [all[at - 1]] : [] },
  }));
  const run = ok(await agent.post("/runs", { goal: "Release notes of May", steps }));
  await settle(async () => ok(await agent.post("/documents/search", { query: "pump" })).results.length > 0);
  await settle(
    async () => ok(await agent.post("/memories/search", { query: "customer" })).results.length > 9,
  );
  return { run_id: run.id as string };
}

const jobs = (run_id: string): Job[] => [
  [
    "publish an event and receive it",
    async (call) => {
      await call("events_publish", {
        type: "com.example.order.placed",
        subject: "order-1",
        data: { total: 12 },
      });
      const { deliveries } = JSON.parse(await call("deliveries_poll", { wait: 10 }));
      await call("deliveries_ack", { delivery_ids: [deliveries[0].id] });
    },
  ],
  [
    "subscribe",
    async (call) => void (await call("interests_create", { event_type: "com.example.parcel.*" })),
  ],
  [
    "remember a fact",
    async (call) =>
      void (await call("memories_create", {
        ...{
          title: "Pumps start by hand",
          content: "The red lever starts the pump.",
          type: "procedural",
          scope: "agent",
        },
      })),
  ],
  ["recall", async (call) => void (await call("memories_search", { query: "When do customers pay?" }))],
  [
    "get a brief of a task",
    async (call) => {
      const bundle = await call("bundles_assemble", { query: "Invoices of customers in May" });
      // Until the answer had the brief, it took a second call.
      if (!("rendered_brief" in JSON.parse(bundle)))
        await call("bundles_brief", { id: JSON.parse(bundle).id });
    },
  ],
  [
    "hand off and resume",
    async (call) => {
      const payload = {
        completed: ["Draft"],
        next_action: "Review the draft",
        decisions: [{ title: "Monthly" }],
      };
      await call("handoffs_save", { name: "notes", summary: "The draft is done.", payload });
      await call("handoffs_resume", { query: "notes" });
    },
  ],
  ["see where runs stand", async (call) => void (await call("runs_list"))],
  [
    "do a step of a run",
    async (call) => {
      await call("runs_position", { run_id });
      await call("runs_start_step", { run_id, step_key: "draft" });
      await call("runs_complete_step", {
        run_id,
        step_key: "draft",
        what_makes_this_done: "Read by two people",
      });
    },
  ],
  [
    "save an output and find it",
    async (call) => {
      await call("outputs_save", { body: "# Notes of May\n\nTwo customers more.", title: "Notes of May" });
      const { results } = JSON.parse(await call("outputs_search", { query: "Report of invoices in May" }));
      await call("outputs_get", { output_id: results[0].output.slug });
    },
  ],
  [
    "search the documents",
    async (call) => void (await call("documents_search", { query: "start the pump" })),
  ],
];
