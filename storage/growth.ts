/** Bytes added by tenants that are not in their usage rows yet; negative if they have freed some. */
export class Growth {
  readonly #bytes = new Map<string, number>();

  add(tenant_id: string, bytes: number): void {
    const sum = this.of(tenant_id) + bytes;
    if (sum === 0) this.#bytes.delete(tenant_id);
    else this.#bytes.set(tenant_id, sum);
  }

  of(tenant_id: string): number {
    return this.#bytes.get(tenant_id) ?? 0;
  }

  entries(): [string, number][] {
    return [...this.#bytes];
  }
}

/** Approximate size of a key, a number or a date. */
const SMALL = 8;

/** Returns the approximate size of a value in a row: an exact measurement would need another encoding. */
export function roughSize(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || value instanceof Date) return SMALL;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let size = 0;
  if (Array.isArray(value)) for (const item of value) size += SMALL + roughSize(item);
  else
    for (const key in value) size += SMALL + key.length + roughSize((value as Record<string, unknown>)[key]);
  return size;
}
