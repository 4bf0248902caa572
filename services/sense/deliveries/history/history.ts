import type { ServiceBroker } from "moleculer";
import { callerId } from "../../../../lib/access/caller.ts";
import { invalidValue, notFound, requireFound } from "../../../../lib/contract/faults.ts";
import { newUuid } from "../../../../lib/ids.ts";
import { place } from "../../../../mixins/queue.ts";
import type { TenantCollection } from "../../../../storage/collection.ts";
import { unlessTaken } from "../../../../storage/writes.ts";
import { requireAgent } from "../../../identity/agents/find-agent.ts";
import type { CallOf } from "../../../runtime.ts";
import type { AgentMatches, MatchAgentParams } from "../../interests/match-agent.ts";
import { requireOwnAgent } from "../agent-deliveries.ts";
import type * as contract from "./history.contract.ts";
import { MOST_KEPT } from "./history.contract.ts";
import { present, type ReplayDoc } from "./history.model.ts";
import type { Player, Wanted } from "./player.ts";

interface HistoryDeps {
  broker: ServiceBroker;
  now: () => number;
  replays: TenantCollection<ReplayDoc>;
  player: Player;
}

const DEFAULT_PER_MINUTE = 600;
const COUNT_MS = 5_000;
const BY = "created_at";

type WantedCall = CallOf<typeof contract.countReplay>;

export class History {
  readonly #deps: HistoryDeps;

  constructor(deps: HistoryDeps) {
    this.#deps = deps;
  }

  async count(ctx: WantedCall) {
    const { player } = this.#deps;
    let row: Wanted = await this.#read(ctx, "");
    const until = performance.now() + COUNT_MS;
    const counts = { examined: 0, matched: 0, deliverable: 0 };
    for (;;) {
      const page = await player.examine(row, Number.MAX_SAFE_INTEGER);
      const { fresh, renewed } = await player.split(row, page.requests);
      counts.examined += page.examined;
      counts.matched += page.requests.length;
      counts.deliverable += fresh.length + renewed.length;
      if (page.isLast || performance.now() > until) return { ...counts, more: !page.isLast };
      row = { ...row, next: page.next };
    }
  }

  /** @throws Fault conflict if the agent has a running replay */
  async start(ctx: CallOf<typeof contract.startReplay>) {
    const { replays, broker, now } = this.#deps;
    const { caller, idempotency_seed } = ctx.meta;
    const { tenant_id } = caller;
    const row: ReplayDoc = {
      ...(await this.#read(ctx, newUuid(idempotency_seed))),
      per_minute: ctx.params.per_minute ?? DEFAULT_PER_MINUTE,
      ...{ state: "running", waiting_for: null, error: null, reached: null },
      ...{ examined: 0, matched: 0, delivered: 0 },
      ...{ created_by: callerId(caller), created_at: new Date(now()), ended_at: null },
      running_key: ctx.params.agent_id,
      queue: place(tenant_id, now(), ctx.params.agent_id),
    };
    const taken = {
      field: "agent_id",
      holder: { running_key: row.agent_id },
      message: () => "The agent has a running replay. Wait until it has ended, or cancel it.",
    };
    const added = await unlessTaken(replays, tenant_id, taken, replays.insertOnce(row));
    await this.#forgetOld(row);
    void broker.broadcast("deliveries.replay_queued");
    return present(added);
  }

  async list(ctx: CallOf<typeof contract.listReplays>) {
    const { agent_id, limit = 50, cursor } = ctx.params;
    const { tenant_id } = await requireOwnAgent(ctx, agent_id, { itself: true });
    const order = { by: BY, cursor, limit } as const;
    const { page, next_cursor: next } = await this.#deps.replays.pageAfter(tenant_id, { agent_id }, order);
    return { replays: page.map(present), next };
  }

  async get(ctx: CallOf<typeof contract.getReplay>) {
    const { agent_id, replay_id: _id } = ctx.params;
    const { tenant_id } = await requireOwnAgent(ctx, agent_id, { itself: true });
    const row = await this.#deps.replays.findOne(tenant_id, { _id, agent_id });
    return present(requireFound(row, "replay", _id));
  }

  async cancel(ctx: CallOf<typeof contract.cancelReplay>) {
    const { replays, now } = this.#deps;
    const { agent_id, replay_id: _id } = ctx.params;
    const { tenant_id } = ctx.meta.caller;
    const $set = { state: "cancelled" as const, waiting_for: null, ended_at: new Date(now()) };
    const $unset = { queue: 1, running_key: 1 } as const;
    const cancelled = await replays.update(tenant_id, { _id, agent_id, state: "running" }, { $set, $unset });
    const row = cancelled ?? (await replays.findOne(tenant_id, { _id, agent_id }));
    return present(requireFound(row, "replay", _id));
  }

  /** Reads what is requested. @throws Fault not_found, validation_error */
  async #read(ctx: WantedCall, _id: string) {
    const { agent_id, from, from_event, interest_id = null, again = false } = ctx.params;
    const { tenant_id } = await requireAgent(ctx, agent_id);
    if ((from === undefined) === (from_event === undefined))
      throw invalidValue("from", "from: pass either `from` or `from_event`.");
    if (interest_id !== null) {
      const nothing = { tenant_id, agent_id, interest_id, events: [], most: 0 };
      await ctx.call<AgentMatches, MatchAgentParams>("interests.match_agent", nothing);
    }
    const now = this.#deps.now();
    const until = new Date(Math.min(now, ctx.params.until ? Date.parse(ctx.params.until) : now));
    if (from_event !== undefined) {
      const filter = { tenant_id, event_ids: [from_event] };
      const [event] = await ctx.call<unknown[], unknown>("events.headers", filter);
      if (!event) throw notFound("event", from_event);
    }
    const begin = from === undefined ? null : new Date(from);
    if (begin && begin > until) throw invalidValue("until", "until: must not be before `from`.");
    return {
      ...{ _id, tenant_id, agent_id, interest_id, again, from: begin, from_event: from_event ?? null, until },
      // An event's id is its position.
      next: from_event?.slice("evt_".length) ?? null,
    };
  }

  /** Deletes replays beyond the latest: the list is bounded. */
  async #forgetOld({ tenant_id, agent_id }: ReplayDoc): Promise<void> {
    const { replays } = this.#deps;
    const options = { sort: { [BY]: -1, _id: -1 }, skip: MOST_KEPT + 1, projection: { _id: 1 } } as const;
    const old = await replays.find(tenant_id, { agent_id }, options);
    if (old.length > 0) await replays.deleteMany(tenant_id, { _id: { $in: old.map(({ _id }) => _id) } });
  }
}
