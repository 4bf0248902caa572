import { Fault } from "../lib/contract/faults.ts";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";
import type { Store } from "../storage/connection.ts";
import { type AnyModel, type Erasure, fieldsOf, type Model, type Replaced } from "../storage/model.ts";
import type { Where } from "../storage/query.ts";
import { INSTALLED } from "./extensions.ts";
import { MODELS } from "./models.ts";

type Kind = "agent" | "subject" | "memories" | "mentions";

/** Request to the action of a domain that erases its content: exactly one of the three. */
export interface EraseContent {
  tenant_id: string;
  agent_id?: string;
  subject?: string;
  /** Of memories. */
  ids?: string[];
  /** Only counts. */
  dry_run?: boolean;
}

/** `memories` directs every erasure, and erases its own rows last. */
const DIRECTOR = "memories.erase";

/** Those whose extension does not run: nobody answers for them. */
const DORMANT = INSTALLED.filter(({ runs }) => !runs);
const ANSWERED = MODELS.filter((model) => !DORMANT.some(({ models = [] }) => models.includes(model)));

/** @throws Fault service_unavailable while an extension that does not run keeps content of the tenant, which would stay */
export async function requireErasers(store: Pick<Store, "collection">, tenant_id: string): Promise<void> {
  for (const { name, models = [] } of DORMANT)
    for (const model of models.filter(hasErasers))
      if (await store.collection(model as Model<TenantDocument>).findOne(tenant_id, {})) {
        const message = `The extension ${name} does not run here, and keeps content that it alone can erase: run it (EXTENSIONS), then erase.`;
        throw new Fault("service_unavailable", message, { retry_after_seconds: 3600 });
      }
}

const hasErasers = ({ erasure }: AnyModel) =>
  !("replaced" in erasure || "with" in erasure || "none" in erasure);

/** Returns the actions that all collections declare for a kind of request, each once. */
export function erasersOf(kind: Kind, models: readonly AnyModel[] = ANSWERED): string[] {
  const declared = models.flatMap(({ erasure }) => (erasure as Partial<Record<Kind, string>>)[kind] ?? []);
  return [...new Set(declared)].filter((name) => name !== DIRECTOR);
}

/** Returns the collections that do not say how their content is erased. */
export function unerased(models: readonly { name: string; erasure?: Erasure }[] = MODELS): string[] {
  const kinds = ["agent", "subject", "memories", "mentions", "replaced", "with", "follows", "none"];
  return models
    .filter(({ erasure = {} }) => !kinds.some((kind) => (erasure as Record<string, string>)[kind]))
    .map(({ name }) => name);
}

/** Returns the collections whose texts are replaced, in this order. */
export function replacedOf(models: readonly AnyModel[] = MODELS): (AnyModel & { erasure: Replaced })[] {
  return models
    .filter((each): each is AnyModel & { erasure: Replaced } => "replaced" in each.erasure)
    .toSorted((a, b) => Number(a.erasure.replaced.last ?? 0) - Number(b.erasure.replaced.last ?? 0));
}

/** Returns the actions that bring search up to date with what was replaced. */
export function settlersOf(models: readonly AnyModel[] = MODELS): string[] {
  return replacedOf(models).flatMap(({ erasure: { replaced } }) => replaced.settle ?? []);
}

/** A tenant, and a time since which texts were replaced. */
export interface SettleErased {
  tenant_id: string;
  since: Date;
}

/** Returns the fields with content, in rows or blobs, that no erasure of a person reaches, as `collection.field`. */
export function unreached(models: readonly AnyModel[] = MODELS): string[] {
  const ended = (name: string | undefined): boolean => {
    const { subject, with: other } = (models.find((each) => each.name === name)?.erasure ?? {}) as Erasers;
    return subject !== undefined || (other !== undefined && ended(other));
  };
  return models.flatMap(({ name, schema, erasure, blobs = [] }) => {
    const { replaced, follows } = erasure as Erasers & Partial<Replaced>;
    if (ended(name) || follows !== undefined) return [];
    const fields = replaced ? [] : fieldsOf(schema).filter(({ content }) => content);
    const left = [...fields.map(({ path }) => path), ...(replaced?.size ? [] : blobs)];
    return left.map((path) => `${name}.${path}`);
  });
}

interface Erasers {
  subject?: string;
  with?: string;
  follows?: string;
}

/** Returns the fields with the id of the agent with which rows end, by collection. */
export function ownersOf(models: readonly AnyModel[] = MODELS): { name: string; field: string }[] {
  return models.flatMap(({ name, erasure: { owner = [] } }) => owner.map((field) => ({ name, field })));
}

/**
 * Request of `memories` to every domain that keeps data about memories
 * (services/remember/memories/erasures.ts).
 */
export type EraseMemories = EraseContent & { ids: string[] };

/** Deletes, or counts, the rows that match any of these filters. */
export async function eraseRows<T extends TenantDocument>(
  rows: TenantCollection<T>,
  { tenant_id, dry_run }: EraseMemories,
  ...filters: Where<T>[]
): Promise<number> {
  if (dry_run) return rows.count(tenant_id, { $or: filters });
  let count = 0;
  for (const filter of filters) count += await rows.deleteMany(tenant_id, filter);
  return count;
}
