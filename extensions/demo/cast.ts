import type { ServiceBroker } from "moleculer";
import { type Caller, NO_END, type Scope } from "../../lib/access/caller.ts";
import type { BlobReference } from "../../lib/contract/contract.ts";
import { isFault } from "../../lib/contract/faults.ts";
import { newId } from "../../lib/ids.ts";
import { firstIds } from "../../services/identity/tenants/founding.ts";
import type { TenantState } from "../../services/identity/tenants/tenants.contract.ts";
import type { Runtime } from "../../services/runtime.ts";
import { writingBlobs } from "../../storage/blobs/blobs.ts";

/** Somebody of the demonstration, who acts as callers do: by the operations of the API. */
export interface Actor {
  id: string;
  /**
   * Performs an operation. Its `beat` names it within the story: a repetition creates nothing twice, and finds done what
   * cannot be done again.
   */
  // biome-ignore lint/suspicious/noExplicitAny: answers of all operations
  does(beat: string, action: string, params?: object): Promise<any>;
}

const AGENT_SCOPES: Scope[] = ["send", "receive", "memory:read", "memory:write"];
/** Refusals of what an earlier, interrupted try has done. */
const DONE = ["conflict", "step_not_completable", "step_not_ready"];

/** The people and agents of a demonstration. */
export class Cast {
  readonly #broker: ServiceBroker;
  readonly #tenant: TenantState;
  readonly #runtime: Runtime;
  readonly admin: Actor;
  readonly slug: string;
  readonly #keys: string[] = [];

  constructor(broker: ServiceBroker, tenant: TenantState, runtime: Runtime) {
    this.#broker = broker;
    this.#tenant = tenant;
    this.#runtime = runtime;
    this.slug = tenant.slug;
    const { user_id } = firstIds(tenant.id);
    const identity = { kind: "user" as const, user_id, role: "admin" as const, session_id: "demo" };
    this.admin = this.#actor(user_id, { ...identity, ...this.#rights(["admin"]) });
  }

  /** The agent that each tenant is created with. */
  get firstAgent(): Actor {
    const { agent_id, key_id } = firstIds(this.#tenant.id);
    return this.#agent(agent_id, key_id);
  }

  /** @param receives whether it has interests: one without them is meant to have a key that cannot receive */
  async hire(name: string, description: string, receives = true): Promise<Actor> {
    const agent = { name, description, delivery_mode: "poll" };
    const { id } = await this.admin.does(`agent ${name}`, "agents.create", agent);
    const scopes = AGENT_SCOPES.filter((scope) => receives || scope !== "receive");
    const key = { agent_id: id, scopes, name: "demonstration" };
    return this.#agent(id, (await this.admin.does(`key ${name}`, "keys.create", key)).id, scopes);
  }

  /** Records that the agents were here. */
  async see(): Promise<void> {
    const used = this.#keys.map((key_id) => ({ tenant_id: this.#tenant.id, key_id }));
    await this.#broker.call("keys.touch", { used });
  }

  #agent(agent_id: string, key_id: string, scopes = AGENT_SCOPES): Actor {
    this.#keys.push(key_id);
    const identity = { kind: "agent" as const, agent_id, team_id: null, key_id };
    return this.#actor(agent_id, { ...identity, ...this.#rights(scopes) });
  }

  /** The text that a secret or an id derives from: the same in each try. */
  seed(beat: string): string {
    return `demo ${this.#tenant.id} ${beat}`;
  }

  /** Stores a file, and runs what refers to it. */
  withFile<T>(content: string, use: (file: BlobReference) => Promise<T>): Promise<T> {
    const { blobs } = this.#runtime;
    return writingBlobs(blobs, this.#tenant.id, async (write) =>
      use((await blobs.put(write, Buffer.from(content))) as BlobReference),
    );
  }

  #rights(scopes: readonly Scope[]) {
    const { id: tenant_id, token_version: tenant_version } = this.#tenant;
    return { tenant_id, tenant_version, scopes, token_id: "demo", token_version: 1, expires_at: NO_END };
  }

  #actor(id: string, caller: Caller): Actor {
    return {
      id,
      does: async (beat, action, params = {}) => {
        const meta = { caller, request_id: newId("req"), idempotency_seed: this.seed(beat) };
        try {
          return await this.#broker.call(action, params, { meta });
        } catch (err) {
          if (isFault(err) && DONE.includes(err.type)) return null;
          throw err;
        }
      },
    };
  }
}
