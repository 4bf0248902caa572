import type { SearchKind } from "../../../storage/search/entry.ts";

/** This many failures in a row mean that the embedder or the store fails, not a tenant. */
const MOST_IN_A_ROW = 3;

/** State of a run over all entries without vectors. */
export class Pass {
  readonly #skips = new Map<string, number>();
  readonly #closed = new Set<string>();
  readonly #failures: unknown[] = [];
  #inARow = 0;

  /** Returns the tenants that this run has not finished. */
  open(tenants: readonly string[]): string[] {
    return tenants.filter((tenant_id) => !this.#closed.has(tenant_id));
  }

  /** Marks a tenant as finished: nothing is left that this node computes. */
  close(tenant_id: string): void {
    this.#closed.add(tenant_id);
  }

  /** Returns how many texts to skip: other nodes compute their vectors, or they changed meanwhile. */
  skipOf(tenant_id: string, kind: SearchKind): number {
    return this.#skips.get(`${tenant_id} ${kind}`) ?? 0;
  }

  skip(tenant_id: string, kind: SearchKind, more: number): void {
    if (more > 0) this.#skips.set(`${tenant_id} ${kind}`, this.skipOf(tenant_id, kind) + more);
  }

  succeeded = (): void => {
    this.#inARow = 0;
  };

  /** @throws the first failure if the tenant is probably not the cause */
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

/** Sorts tenants and rotates them, so that those after `last` come first. */
export function fromNext(tenants: readonly string[], last: string): string[] {
  const sorted = tenants.toSorted();
  const at = sorted.findIndex((tenant_id) => tenant_id > last);
  return at < 0 ? sorted : [...sorted.slice(at), ...sorted.slice(0, at)];
}
