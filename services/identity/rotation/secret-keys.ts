import type { ServiceBroker } from "moleculer";
import type { Filter } from "mongodb";
import {
  RESTORE_KEY,
  type Sealed,
  type SecretBox,
  SecretError,
  sealedByOthers,
} from "../../../lib/crypto/secrets.ts";
import type { More } from "../../../mixins/loop.ts";
import type { Log } from "../../../observability/log.ts";
import type { Row, TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { INSTALLATION, type Model, type SealedField, sealedFields } from "../../../storage/model.ts";
import { isSystemic } from "../../../storage/store-lost.ts";
import { MODELS } from "../../models.ts";
import type { Runtime } from "../../runtime.ts";
import { type SecretKeyDoc, SecretKeyModel } from "./rotation.model.ts";

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
   * @throws SecretError unless this node has every key that stored secrets are encrypted with
   */
  async require(): Promise<void> {
    const used = await this.#used();
    const missing = used.filter((id) => !this.#secrets.keyIds.includes(id));
    if (missing.length > 0)
      throw new SecretError(
        `The record holds secrets that are encrypted with the key ${missing.join(", ")}, which this node does not have. ${RESTORE_KEY}`,
      );
    await this.#declare();
  }

  /** Replaces the active key of the file. */
  async replace(): Promise<void> {
    await this.#secrets.replaceKey();
    await this.#declare();
  }

  /** Returns the ids of the keys of each node on this record, the active one first. */
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
    if (others.length === rows.length) await this.#declare();
    if (others.length === 0) return false;
    const now = this.#store.now();
    await this.#keys.update(INSTALLATION, { _id: this.#active }, { $set: { active_at: new Date(now) } });
    const isOther = ([active]: string[]) => active !== this.#active;
    const isFresh = ({ active_at }: SecretKeyDoc) => (active_at?.getTime() ?? 0) > now - FRESH_MS;
    if (Object.values(this.ofNodes(broker)).some(isOther) || others.some(isFresh)) return AGREE_MS;
    const former = others.map(({ _id }) => _id);
    this.left = await this.rows.count();
    const count = await this.rows.reseal((err, row) =>
      this.#log.warn({ err, ...row }, "a secret cannot be read"),
    );
    if (count > 0)
      this.#log.info(
        { key_id: this.#active, found: count },
        "stored secrets were encrypted with the active key",
      );
    this.left = {};
    return this.#noteUnused(former, count);
  }

  async #noteUnused(former: string[], count: number): Promise<More> {
    const now = this.#store.now();
    const of = { _id: { $in: former } };
    if (count > 0) {
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

  async #declare(): Promise<void> {
    const created_at = new Date(this.#store.now());
    const fresh = { tenant_id: INSTALLATION, created_at, active_at: null, unused_since: null };
    await this.#keys.insertMissing([{ _id: this.#active, ...fresh }]);
  }
}

const BATCH = 50;

/** A field of a collection that holds sealed texts. */
interface SealedColumn extends SealedField {
  model: Model<Row>;
}

/** Every sealed field, as the models declare them. */
export const SEALED_COLUMNS: readonly SealedColumn[] = MODELS.flatMap((model) => {
  const declared = model as Model<Row>;
  return sealedFields(declared.schema as never).map((field) => ({ model: declared, ...field }));
});

/** The rows whose secrets a key other than the active one has sealed. */
export class SealedRows {
  readonly #store: Store;
  readonly #secrets: SecretBox;

  constructor(store: Store, secrets: SecretBox) {
    this.#store = store;
    this.#secrets = secrets;
  }

  /** Counts those that are left, by collection. */
  async count(): Promise<Record<string, number>> {
    const left: Record<string, number> = {};
    for (const column of SEALED_COLUMNS) {
      const { name } = column.model;
      const count = await this.#rows(column).system.countDocuments(this.#filter(column));
      if (count > 0) left[name] = (left[name] ?? 0) + count;
    }
    return left;
  }

  /**
   * Seals each with the active key. A row that was changed meanwhile is left to the next pass.
   * @param failed is called for a row that cannot be sealed again, as no key here opens its secret
   * @returns how many it has tried
   */
  async reseal(failed: (err: Error, row: { collection: string; id: string }) => void): Promise<number> {
    let tried = 0;
    for (const column of SEALED_COLUMNS) {
      const { path, model } = column;
      const projection = { tenant_id: 1, [path.split(".")[0] as string]: 1 };
      for (let after = "", more = true; more; ) {
        const filter = { ...this.#filter(column), _id: { $gt: after } };
        const options = { projection, sort: { _id: 1 }, limit: BATCH } as const;
        const rows = (await this.#rows(column)
          .system.find(filter as never, options)
          .toArray()) as Row[];
        // Together: the embedded store commits them at once.
        const writes = rows.map(async (row) => {
          try {
            await this.#write(column, row);
            tried++;
          } catch (err) {
            if (isSystemic(err)) throw err;
            failed(err as Error, { collection: model.name, id: row._id });
          }
        });
        const rejected = (await Promise.allSettled(writes)).find(({ status }) => status === "rejected");
        if (rejected) throw (rejected as PromiseRejectedResult).reason;
        after = rows.at(-1)?._id ?? "";
        more = rows.length === BATCH;
      }
    }
    return tried;
  }

  /** Guarded by the former texts: a write that came first is not lost. */
  async #write(column: SealedColumn, row: Row): Promise<void> {
    const changes = this.#resealed(column, row);
    const former = Object.fromEntries(changes.map(({ at, before }) => [at, before]));
    const $set = Object.fromEntries(changes.map(({ at, after }) => [at, after]));
    if (changes.length === 0) return;
    await this.#rows(column).update(row.tenant_id, { _id: row._id, ...former } as never, { $set } as never);
  }

  #resealed({ path, place }: SealedColumn, row: Row) {
    const at = place(row._id);
    const others = new RegExp(sealedByOthers(this.#secrets.keyIds[0]).$regex);
    return textsAt(row, path.split("."))
      .filter(([, text]) => others.test(text))
      .map(([where, before]) => {
        const after = this.#secrets.seal(this.#secrets.open(before as Sealed, at), at);
        return { at: where, before, after };
      });
  }

  #rows({ model }: SealedColumn): TenantCollection<Row> {
    return this.#store.collection(model);
  }

  #filter({ path, only }: SealedColumn): Filter<Row> {
    const named = only === undefined ? {} : { [only]: { $exists: true } };
    return { ...named, [path]: sealedByOthers(this.#secrets.keyIds[0]) };
  }
}

/** Returns the texts at a path, through arrays, each with its concrete path. */
function textsAt(value: unknown, path: readonly string[], at: readonly string[] = []): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((each, i) => textsAt(each, path, [...at, String(i)]));
  const [name, ...rest] = path;
  if (name === undefined) return typeof value === "string" ? [[at.join("."), value]] : [];
  return textsAt((value as Record<string, unknown> | null)?.[name], rest, [...at, name]);
}
