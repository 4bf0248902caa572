import type { SearchKind } from "../../../storage/search/entry.ts";

/** So many tenants in a row fail only when the embedder or the store does. */
const MOST_IN_A_ROW = 3;

/** What a run over all that has no vector has learnt so far. */
export class Pass {
  readonly #skips = new Map<string, number>();
  readonly #closed = new Set<string>();
  readonly #failures: unknown[] = [];
  #inARow = 0;

  /** Those tenants that this run is not done with. */
  open(tenants: readonly string[]): string[] {
    return tenants.filter((tenant_id) => !this.#closed.has(tenant_id));
  }

  /** Nothing is left of the tenant that this node has to make. */
  close(tenant_id: string): void {
    this.#closed.add(tenant_id);
  }

  /** How many texts to leave out: other nodes make their vectors, or they changed meanwhile. */
  skipOf(tenant_id: string, kind: SearchKind): number {
    return this.#skips.get(`${tenant_id} ${kind}`) ?? 0;
  }

  skip(tenant_id: string, kind: SearchKind, more: number): void {
    if (more > 0) this.#skips.set(`${tenant_id} ${kind}`, this.skipOf(tenant_id, kind) + more);
  }

  succeeded = (): void => {
    this.#inARow = 0;
  };

  /** @throws the first failure when this one is hardly the tenant's */
  failed(tenant_id: string, err: unknown): void {
    this.#closed.add(tenant_id);
    this.#failures.push(err);
    this.#inARow++;
    if (this.#inARow >= MOST_IN_A_ROW) this.end();
  }

  /** @throws the first failure, if there was one */
  end(): void {
    if (this.#failures.length > 0) throw this.#failures[0];
  }
}

/** In order, those behind `last` first. */
export function fromNext(tenants: readonly string[], last: string): string[] {
  const sorted = tenants.toSorted();
  const at = sorted.findIndex((tenant_id) => tenant_id > last);
  return at < 0 ? sorted : [...sorted.slice(at), ...sorted.slice(0, at)];
}
