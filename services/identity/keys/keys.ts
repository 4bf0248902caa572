import { apiKeyPrefix, findApiKey, hashApiKey, newApiKey } from "../../../lib/access/api-key.ts";
import { type Call, callerId } from "../../../lib/access/caller.ts";
import { invalidValue, requireFound } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import { requireAgent } from "../agents/find-agent.ts";
import { announceAuthChange } from "../tenants/auth-change.ts";
import { standing } from "./approval.ts";
import type { createKey, KeyState, listKeys, revokeKey, updateKey } from "./keys.contract.ts";
import type { KeyDoc } from "./keys.model.ts";

/** The operations on agents' API keys. */
export class Keys {
  readonly #runtime: Pick<Runtime, "secrets" | "store">;
  readonly #rows: TenantCollection<KeyDoc>;

  constructor(runtime: Pick<Runtime, "secrets" | "store">, rows: TenantCollection<KeyDoc>) {
    this.#runtime = runtime;
    this.#rows = rows;
  }

  async create(ctx: CallOf<typeof createKey>) {
    const { agent_id, name = null, scopes, expires_at, requests_per_minute = null } = ctx.params;
    const { tenant_id } = await requireAgent(ctx, agent_id);
    if (expires_at && Date.parse(expires_at) <= this.#runtime.store.now()) {
      const details = { value: expires_at };
      throw invalidValue(
        "expires_at",
        `expires_at: expected a time in the future, got ${expires_at}.`,
        details,
      );
    }
    const seed = ctx.meta.idempotency_seed;
    const ends = expires_at ? new Date(expires_at) : null;
    const created_by = callerId(ctx.meta.caller);
    const row = { tenant_id, agent_id, name, scopes, created_by, expires_at: ends, requests_per_minute };
    const { doc, key } = await this.issue(row, seed);
    return { ...present(doc), key };
  }

  async list(ctx: CallOf<typeof listKeys>) {
    const { tenant_id, id: agent_id } = await requireAgent(ctx, ctx.params.agent_id);
    const filter = { agent_id, revoked_at: null };
    const { rows, total } = await this.#rows.page(tenant_id, filter, { created_at: -1 }, ctx.params);
    const ended = await this.#ended(ctx, rows);
    return { keys: rows.map((row) => present(row, ended.has(row))), total };
  }

  async update(ctx: CallOf<typeof updateKey>) {
    const { tenant_id } = ctx.meta.caller;
    const { agent_id, key_id, requests_per_minute } = ctx.params;
    const filter = { _id: key_id, agent_id, revoked_at: null };
    const changed = await this.#rows.update(tenant_id, filter, { $set: { requests_per_minute } });
    const key = requireFound(changed, "key", key_id);
    await announceAuthChange(ctx, { tenant_id, key_id });
    return present(key, (await this.#ended(ctx, [key])).has(key));
  }

  async revoke(ctx: CallOf<typeof revokeKey>) {
    const { tenant_id } = ctx.meta.caller;
    const { agent_id, key_id } = ctx.params;
    const filter = { _id: key_id, agent_id, revoked_at: null };
    const $set = { revoked_at: new Date(this.#runtime.store.now()) };
    const revoked = await this.#rows.update(tenant_id, filter, { $set });
    // Also without a change: an earlier try may have been interrupted between the two writes.
    await announceAuthChange(ctx, { tenant_id, key_id });
    requireFound(revoked, "key", key_id);
  }

  /** Revokes the key of a connection that has ended. May be repeated. */
  async end(ctx: Call<Pick<KeyDoc, "tenant_id"> & { key_id: string }>) {
    const { tenant_id, key_id } = ctx.params;
    const $set = { revoked_at: new Date(this.#runtime.store.now()) };
    await this.#rows.update(tenant_id, { _id: key_id, revoked_at: null }, { $set });
    await announceAuthChange(ctx, { tenant_id, key_id });
  }

  /** Returns the state of those keys that are not revoked, not expired and, if they need it, approved still. */
  async valid(from: Pick<Call, "call">, docs: readonly KeyDoc[]): Promise<KeyState[]> {
    const now = this.#runtime.store.now();
    const live = docs.filter(
      (doc) => doc.revoked_at === null && (doc.expires_at?.getTime() ?? now + 1) > now,
    );
    const ended = await this.#ended(from, live);
    return live.filter((doc) => !ended.has(doc)).map(toState);
  }

  async #ended(from: Pick<Call, "call">, docs: readonly KeyDoc[]): Promise<Set<KeyDoc>> {
    const approved = await standing(from, docs);
    return new Set(docs.filter((doc) => doc.approval && !approved.has(doc)));
  }

  async receiving(tenant_id: string, agent_ids: string[]): Promise<string[]> {
    const filter = { agent_id: { $in: agent_ids }, revoked_at: null };
    const docs = await this.#rows.find(tenant_id, filter, { projection: { agent_id: 1, scopes: 1 } });
    const receiving = docs.filter(({ scopes }) => scopes.includes("receive"));
    return [...new Set(receiving.map(({ agent_id }) => agent_id))];
  }

  async lastUsed(tenant_id: string, agent_ids: string[]): Promise<Record<string, number>> {
    const filter = { agent_id: { $in: agent_ids } };
    const docs = await this.#rows.find(tenant_id, filter, { projection: { agent_id: 1, last_used_at: 1 } });
    const last: Record<string, number> = {};
    for (const { agent_id, last_used_at } of docs)
      if (last_used_at) last[agent_id] = Math.max(last[agent_id] ?? 0, last_used_at.getTime());
    return last;
  }

  /** Issues a key; the same seed always gives the same key, which is stored once. */
  async issue(
    row: Pick<
      KeyDoc,
      | "tenant_id"
      | "agent_id"
      | "name"
      | "scopes"
      | "expires_at"
      | "approval"
      | "created_by"
      | "requests_per_minute"
    >,
    seed: string | undefined,
    { _id = newId("key", seed), key = newApiKey(this.#runtime.secrets, seed) } = {},
  ) {
    const hashed = { hash: hashApiKey(key), prefix: apiKeyPrefix(key) };
    const unused = { revoked_at: null, last_used_at: null };
    const created_at = new Date(this.#runtime.store.now());
    const doc = await this.#rows.insertOnce({ ...row, _id, ...hashed, ...unused, created_at });
    const first = seed && doc.hash !== hashed.hash && findApiKey(this.#runtime.secrets, seed, doc.hash);
    return { doc, key: first || key };
  }
}

function toState({ _id: id, tenant_id, agent_id, scopes, expires_at, ...rest }: KeyDoc): KeyState {
  const approved_by = rest.approval?.user_id ?? null;
  const { requests_per_minute = null } = rest;
  const ends = expires_at?.getTime() ?? null;
  return { id, tenant_id, agent_id, scopes, expires_at: ends, approved_by, requests_per_minute };
}

function present(doc: KeyDoc, hasEnded = false) {
  const {
    _id,
    name = null,
    prefix,
    scopes,
    expires_at,
    last_used_at,
    created_at,
    created_by,
    approval,
    requests_per_minute = null,
  } = doc;
  return {
    id: _id,
    name,
    prefix,
    scopes,
    state: hasEnded ? "ended" : "active",
    created_by: created_by ?? null,
    requests_per_minute,
    approved_by: approval?.user_id ?? null,
    expires_at: expires_at?.toISOString() ?? null,
    last_used_at: last_used_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  };
}
