import type { AgentCaller, Call } from "../../lib/access/caller.ts";
import { notFound } from "../../lib/contract/faults.ts";
import { addressId } from "../../lib/ids.ts";
import { toStored } from "../../lib/text/namespace.ts";
import { writings } from "../../lib/text/subject.ts";
import type { EraseContent } from "../../services/erasers.ts";
import type { CallOf } from "../../services/runtime.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { Store } from "../../storage/connection.ts";
import { pageOfNamespaces } from "../../storage/namespaces.ts";
import type { Where } from "../../storage/query.ts";
import type * as contract from "./state.contract.ts";
import { present, presentWhole, type StateDoc, StateModel } from "./state.model.ts";

/** Sorts after every character. */
const LAST = "\u{10ffff}";

/** The state of agents; each sees its own alone. */
export class State {
  readonly rows: TenantCollection<StateDoc>;
  readonly #store: Pick<Store, "now">;

  constructor(store: Pick<Store, "collection" | "now">) {
    this.rows = store.collection(StateModel);
    this.#store = store;
  }

  now(): Date {
    return new Date(this.#store.now());
  }

  isInForce({ expires_at }: StateDoc): boolean {
    return expires_at === null || expires_at > this.now();
  }

  /** @throws Fault not_found */
  async get({ params: { namespace, key }, meta }: CallOf<typeof contract.getState>) {
    const { tenant_id, agent_id } = meta.caller as AgentCaller;
    const doc = await this.rows.findOne(tenant_id, { _id: addressId(agent_id, namespace, key) });
    if (!doc || !this.isInForce(doc)) throw notFound("state", key);
    return presentWhole(doc);
  }

  /** @throws Fault not_found */
  async delete({ params: { namespace, key }, meta }: CallOf<typeof contract.deleteState>): Promise<void> {
    const { tenant_id, agent_id } = meta.caller as AgentCaller;
    const wanted = { _id: addressId(agent_id, namespace, key), ...this.#inForce() };
    if (!(await this.rows.delete(tenant_id, wanted))) throw notFound("state", key);
  }

  async list(ctx: CallOf<typeof contract.listState>) {
    const { prefix, after, before, order = "asc", limit = 100 } = ctx.params;
    const bounds = [
      ...(prefix === undefined ? [] : [beginningWith(prefix)]),
      ...(after === undefined ? [] : [{ key: { $gt: after } }]),
      ...(before === undefined ? [] : [{ key: { $lt: before } }]),
    ];
    const filter = { ...this.#own(ctx), $and: [...bounds, this.#inForce()] };
    const sort = { key: order === "asc" ? 1 : -1 } as const;
    const { tenant_id } = ctx.meta.caller;
    const { rows, more } = await this.rows.findWithin(tenant_id, filter, { sort, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const entries = page.map((doc) => ({ ...present(doc), value: doc.value }));
    return { entries, next: more || page.length < rows.length ? (page.at(-1)?.key ?? null) : null };
  }

  async clear(ctx: CallOf<typeof contract.clearState>) {
    const { prefix } = ctx.params;
    const filter = { ...this.#own(ctx), ...(prefix !== undefined && beginningWith(prefix)) };
    return { deleted: await this.rows.deleteMany(ctx.meta.caller.tenant_id, filter) };
  }

  namespaces({ params, meta }: CallOf<typeof contract.listStateNamespaces>) {
    const { tenant_id, agent_id } = meta.caller as AgentCaller;
    return pageOfNamespaces(this.rows, tenant_id, { agent_id, $and: [this.#inForce()] }, params);
  }

  /** Erases, or counts, an agent's state or that about a person. */
  async erase({ params }: { params: EraseContent }) {
    const { tenant_id, agent_id, subject, dry_run } = params;
    const filter: Where<StateDoc> =
      subject === undefined ? { agent_id } : { subjects: { $in: writings(subject) } };
    if (dry_run) return { state_entries: await this.rows.count(tenant_id, filter) };
    return { state_entries: await this.rows.deleteMany(tenant_id, filter) };
  }

  #own({ params: { namespace }, meta }: Call<{ namespace: string }>) {
    const { agent_id } = meta.caller as AgentCaller;
    return { agent_id, namespace: toStored(namespace) };
  }

  /** Matches entries that have not expired: others are gone, whether deleted yet or not. */
  #inForce() {
    return { $or: [{ expires_at: null }, { expires_at: { $gt: this.now() } }] };
  }
}

const beginningWith = (prefix: string) => ({ key: { $gte: prefix, $lt: prefix + LAST } });
