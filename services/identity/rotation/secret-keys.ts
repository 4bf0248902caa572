import type { ServiceBroker } from "moleculer";
import { RESTORE_KEY, type SecretBox, SecretError } from "../../../lib/crypto/secrets.ts";
import type { More } from "../../../mixins/loop.ts";
import type { Log } from "../../../observability/log.ts";
import type { Store } from "../../../storage/connection.ts";
import { INSTALLATION } from "../../../storage/model.ts";
import type { Runtime } from "../../runtime.ts";
import { type SecretKeyDoc, SecretKeyModel } from "./rotation.model.ts";
import { SealedRows } from "./sealed-rows.ts";

/** How often nodes that encrypt with different keys are asked again whether they agree. */
const AGREE_MS = 2000;
/** A key was active this recently: a node that is not connected to this one may encrypt with it. */
const FRESH_MS = 5 * AGREE_MS;
/** Those that are no longer used are removed: there are a few. With a limit, the read does not wait for long ones. */
const ALL = { limit: 1000 } as const;

/** Tells other nodes which keys this one has. */
export function showKeys(broker: ServiceBroker, { keyIds }: SecretBox): void {
  broker.metadata.secret_keys = keyIds;
}

interface ListedNode {
  id: string;
  metadata: { secret_keys?: string[] } | null;
}

interface Settings {
  config: Pick<Runtime["config"], "REQUEST_TIMEOUT_SECONDS">;
}

/** The keys that stored secrets may be encrypted with. */
export class SecretKeys {
  readonly #store: Store;
  readonly #secrets: SecretBox;
  readonly #graceMs: number;
  readonly #log: Log;
  readonly rows: SealedRows;
  /** Rows that the last pass has found, by collection: for the metric. */
  left: Record<string, number> = {};

  constructor({ store, secrets, config, log }: Pick<Runtime, "store" | "secrets" | "log"> & Settings) {
    this.#store = store;
    this.#secrets = secrets;
    this.#log = log;
    // A request may have read a secret, and write it back until then.
    this.#graceMs = 2 * config.REQUEST_TIMEOUT_SECONDS * 1000;
    this.rows = new SealedRows(store, secrets);
  }

  get #keys() {
    return this.#store.collection(SecretKeyModel);
  }

  get #active(): string {
    return this.#secrets.keyIds[0];
  }

  /**
   * Declares the active key before anything is encrypted with it.
   *
   * @throws SecretError unless this node has every key that stored secrets are encrypted with
   */
  async require(): Promise<void> {
    const used = await this.#used();
    const missing = used.filter((id) => !this.#secrets.keyIds.includes(id));
    if (missing.length > 0)
      throw new SecretError(
        `The record holds secrets that are encrypted with the key ${missing.join(", ")}, which this node does not have. ${RESTORE_KEY}`,
      );
    // A record of an earlier version does not name its keys.
    if (used.length === 0) await this.rows.requireReadable();
    await this.#declare(used.length === 0 ? this.#secrets.keyIds : [this.#active]);
  }

  /** Replaces the active key of the file. */
  async replace(): Promise<void> {
    await this.#secrets.replaceKey();
    await this.#declare([this.#active]);
  }

  /** Returns the ids of the keys of each node on this record, the active one first; none of a node of an older version. */
  ofNodes({ registry, nodeID }: ServiceBroker): Record<string, string[]> {
    const isShared = this.#store.driver === "mongodb";
    const nodes = isShared ? (registry.getNodeList({ onlyAvailable: true }) as unknown as ListedNode[]) : [];
    const shown = nodes.map(({ id, metadata }) => [id, metadata?.secret_keys ?? []]);
    return { ...Object.fromEntries(shown), [nodeID]: this.#secrets.keyIds };
  }

  /** Returns the ids of the keys other than the active one that stored secrets may be encrypted with. */
  async fallbacksInUse(): Promise<string[]> {
    return (await this.#used()).filter((id) => id !== this.#active);
  }

  /**
   * Encrypts all stored secrets with the active key. A key counts as unused when a pass finds nothing, and another one
   * after the longest request, which may have written back what it read before.
   */
  async reseal(broker: ServiceBroker): Promise<More> {
    const rows = await this.#keys.find(INSTALLATION, {}, ALL);
    const others = rows.filter(({ _id }) => _id !== this.#active);
    if (others.length === rows.length) await this.#declare([this.#active]);
    if (others.length === 0) return false;
    const now = this.#store.now();
    await this.#keys.update(INSTALLATION, { _id: this.#active }, { $set: { active_at: new Date(now) } });
    const isOther = ([active]: string[]) => active !== this.#active;
    const isFresh = ({ active_at }: SecretKeyDoc) => (active_at?.getTime() ?? 0) > now - FRESH_MS;
    if (Object.values(this.ofNodes(broker)).some(isOther) || others.some(isFresh)) return AGREE_MS;
    const former = others.map(({ _id }) => _id);
    this.left = await this.rows.count();
    const found = await this.rows.reseal((err, row) =>
      this.#log.warn({ err, ...row }, "a secret cannot be read"),
    );
    if (found > 0)
      this.#log.info({ key_id: this.#active, found }, "stored secrets were encrypted with the active key");
    this.left = {};
    return this.#noteUnused(former, found);
  }

  async #noteUnused(former: string[], found: number): Promise<More> {
    const now = this.#store.now();
    const of = { _id: { $in: former } };
    if (found > 0) {
      await this.#keys.updateMany(INSTALLATION, of, { $set: { unused_since: null } });
      return true;
    }
    await this.#keys.updateMany(
      INSTALLATION,
      { ...of, unused_since: null },
      { $set: { unused_since: new Date(now) } },
    );
    const over = { ...of, unused_since: { $lte: new Date(now - this.#graceMs) } };
    if ((await this.#keys.deleteMany(INSTALLATION, over)) < former.length) return this.#graceMs;
    this.#log.info(
      { key_ids: former },
      "no stored secret is encrypted with these former keys: they can be removed",
    );
    return false;
  }

  async #used(): Promise<string[]> {
    return (await this.#keys.find(INSTALLATION, {}, ALL)).map(({ _id }) => _id);
  }

  async #declare(ids: readonly string[]): Promise<void> {
    const fresh = {
      tenant_id: INSTALLATION,
      created_at: new Date(this.#store.now()),
      active_at: null,
      unused_since: null,
    };
    await this.#keys.insertMissing(ids.map((_id) => ({ _id, ...fresh })));
  }
}
