import { createHash } from "node:crypto";
import { DAY_MS } from "../../../lib/time.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { WebhookBodyDoc } from "./ingest.model.ts";

/** A delivery with an unsigned id. */
interface Unsigned {
  tenant_id: string;
  webhook_id: string;
  body: Uint8Array;
  /** The id sent with the body. */
  id: string;
}

const BATCH = 1000;

/**
 * The ids of deliveries whose signature does not cover them. Anyone who saw such a delivery could replay its body under
 * another id, so a body keeps its first id for 24 hours: later ones are duplicates.
 */
export class FirstIds {
  readonly #bodies: TenantCollection<WebhookBodyDoc>;
  readonly #now: () => number;

  constructor(bodies: TenantCollection<WebhookBodyDoc>, now: () => number) {
    this.#bodies = bodies;
    this.#now = now;
  }

  /** Returns the body's first id; the given one if it has none yet. */
  async of({ tenant_id, webhook_id, body, id }: Unsigned): Promise<string> {
    const _id = `${webhook_id} ${digestOf(body)}`;
    const now = this.#now();
    const expires_at = new Date(now + DAY_MS);
    const known = await this.#bodies.insertOnce({ _id, tenant_id, first_id: id, expires_at });
    if (known.expires_at.getTime() > now) return known.first_id;
    const over = { _id, expires_at: known.expires_at };
    const renewed = await this.#bodies.update(tenant_id, over, { $set: { first_id: id, expires_at } });
    // A concurrent delivery or sweep renewed or removed it.
    return renewed?.first_id ?? this.of({ tenant_id, webhook_id, body, id });
  }

  /** Removes expired bodies. @returns whether there may be more */
  async sweep(): Promise<boolean> {
    const over = { expires_at: { $lte: new Date(this.#now()) } };
    const rows = await this.#bodies.system.find(over, { projection: { _id: 1 }, limit: BATCH }).toArray();
    if (rows.length === 0) return false;
    await this.#bodies.system.deleteMany({ _id: { $in: rows.map(({ _id }) => _id) }, ...over });
    return rows.length === BATCH;
  }
}

export function digestOf(body: Uint8Array): string {
  return `sha256:${createHash("sha256").update(body).digest("hex")}`;
}
