import { hash } from "node:crypto";
import { EventEmitter } from "node:events";
import type { ServiceBroker } from "moleculer";
import { Type } from "typebox";
import { type Caller, callerId } from "../../lib/access/caller.ts";
import { notFound, requireFound } from "../../lib/contract/faults.ts";
import { compileCheck } from "../../lib/contract/validator.ts";
import { VERSION } from "../../lib/version.ts";
import type { StreamService } from "../../services/edge/gateway/http-exchange.ts";
import { endingOf } from "../../services/edge/gateway/streams/sse.ts";
import type { AgentState } from "../../services/identity/agents/agents.contract.ts";
import type { CallablePage } from "../../services/identity/agents/agents.ts";
import { originOf } from "../../services/identity/tenants/origin.ts";
import { action, event, type ServiceFactory } from "../../services/runtime.ts";
import * as contract from "./a2a.contract.ts";
import { CallersTasks } from "./callers-tasks.ts";
import type { TaskChange } from "./tasks/a2a-tasks.ts";

const etagOf = (card: object) => `"${hash("sha256", JSON.stringify(card), "base64url")}"`;

const checkPath = compileCheck(Type.Object(contract.getAgentCard.path ?? {}));

/**
 * Agents that can be called over the Agent2Agent protocol: a card and a JSON-RPC address each. Stateless, and on every
 * node with a gateway, like MCP; tasks are rows (tasks/), so that any node can answer and follow them.
 */
export const a2aService: ServiceFactory = (runtime) => {
  const { config, log } = runtime;
  let broker: ServiceBroker;
  const changes = new EventEmitter().setMaxListeners(0);

  /** @throws Fault not_found, alike for all agents that cannot be called */
  const cardFor = async (agent_id: string) => {
    const agent = await broker.call<Shown | null, object>("agents.card", { agent_id });
    const shown = requireFound(agent, "agent", agent_id);
    return makeCard(shown, `${await originOf(broker, config)}/a2a/${agent_id}/rpc`);
  };

  const serve: StreamService["serve"] = async (_perform, exchange, params, link, output) => {
    const { ctx, path, res, req } = exchange;
    const caller = exchange.caller as Caller;
    const { tenant_id } = caller;
    const malformed = checkPath(path);
    if (malformed) throw malformed;
    const agent_id = path.agent_id as string;
    const own = await ctx.call<AgentState[]>("agents.get_many", { tenant_id, agent_ids: [agent_id] });
    if (own.length === 0) throw notFound("agent", agent_id);
    const card = await cardFor(agent_id);
    const { answer } = await import("./json-rpc.ts");
    const side = { tenant_id, agent_id, caller_id: callerId(caller) };
    const tasks = new CallersTasks(ctx, side, runtime);
    const ended = endingOf(exchange, link);
    const version = req.headers["a2a-version"] as string | undefined;
    const waiting = { ended, recheck: link.recheck };
    await answer({ res, output, log }, { params, version }, { card, side, tasks, changes, waiting });
  };

  return {
    name: "a2a",
    created() {
      broker = this.broker;
    },
    actions: {
      card: action(contract.getAgentCard, async ({ params, meta }) => {
        const card = await cardFor(params.agent_id);
        meta.$responseHeaders = { "Cache-Control": "public, max-age=60", ETag: etagOf(card) };
        return card;
      }),
      catalog: action(contract.getAgentCatalog, async ({ params: { after: cursor }, meta }) => {
        const { tenant_id } = meta.caller as Caller;
        const page = await broker.call<CallablePage, object>("agents.callable", { tenant_id, cursor });
        return makeCatalog(page, await originOf(broker, config));
      }),
    },
    events: { "a2a_tasks.changed": event<TaskChange>(({ task_id }) => changes.emit(task_id)) },
    methods: { serve },
  };
};

/** Returns agents that can be called, and where the others are, as an AI Catalog. */
function makeCatalog({ agents, next_cursor }: CallablePage, origin: string) {
  const entries = agents.map(({ id, name, description, updated_at }) => ({
    ...{ identifier: id, type: "application/a2a-agent-card+json" as const },
    url: `${origin}/a2a/${id}/.well-known/agent-card.json`,
    ...{ displayName: name, ...(description && { description }), updatedAt: updated_at },
  }));
  const rest = next_cursor === null ? [] : [continuedAt(origin, next_cursor)];
  return {
    specVersion: "0.9" as const,
    host: { displayName: "Sensorium", documentationUrl: `${origin}/docs` },
    entries: [...entries, ...rest],
  };
}

function continuedAt(origin: string, cursor: string) {
  const url = `${origin}${contract.getAgentCatalog.url}?after=${cursor}`;
  return {
    identifier: `rest:${cursor}`,
    type: contract.CATALOG_TYPE,
    url,
    displayName: "More agents",
  } as const;
}

/** The public part of an agent. */
interface Shown {
  name: string;
  description: string | null;
}

/** Returns an agent's card as JSON of A2A 1.0. */
function makeCard({ name, description }: Shown, url: string) {
  const purpose = description || `Messages to ${name}.`;
  return {
    name,
    description: purpose,
    version: VERSION,
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false },
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: "Bearer", description: "A token with the scope send." } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ["text/plain", "application/json"],
    defaultOutputModes: ["text/plain", "text/markdown"],
    skills: [{ id: "messages", name, description: purpose, tags: ["messages"] }],
  };
}
