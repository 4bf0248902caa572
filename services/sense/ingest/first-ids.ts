import { DAY_MS } from "../../../lib/time.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { digestOf } from "./body-id.ts";
import type { WebhookBodyDoc } from "./webhook-bodies.model.ts";

/** What an unsigned id came with. */
interface Unsigned {
  tenant_id: string;
  webhook_id: string;
  body: Uint8Array;
  /** The id that came with the body. */
  id: string;
}

const BATCH = 1000;

/**
 * The ids of deliveries whose signature does not cover them. Anybody who saw such a delivery can send its body again
 * under another id, so a body keeps its first id for 24 hours: what follows is a duplicate.
 */
export class FirstIds {
  readonly #bodies: TenantCollection<WebhookBodyDoc>;
  readonly #now: () => number;

  constructor(bodies: TenantCollection<WebhookBodyDoc>, now: () => number) {
    this.#bodies = bodies;
    this.#now = now;
  }

  /** The first id of the body; its own when it has none yet. */
  async of({ tenant_id, webhook_id, body, id }: Unsigned): Promise<string> {
    const _id = `${webhook_id} ${digestOf(body)}`;
    const now = this.#now();
    const expires_at = new Date(now + DAY_MS);
    const known = await this.#bodies.insertOnce({ _id, tenant_id, first_id: id, expires_at });
    if (known.expires_at.getTime() > now) return known.first_id;
    const over = { _id, expires_at: known.expires_at };
    const renewed = await this.#bodies.update(tenant_id, over, { $set: { first_id: id, expires_at } });
    // Somebody else renewed or removed it in between.
    return renewed?.first_id ?? this.of({ tenant_id, webhook_id, body, id });
  }

  /** Removes bodies whose day is over. @returns whether there may be more */
  async sweep(): Promise<boolean> {
    const over = { expires_at: { $lte: new Date(this.#now()) } };
    const rows = await this.#bodies.system.find(over, { projection: { _id: 1 }, limit: BATCH }).toArray();
    if (rows.length === 0) return false;
    await this.#bodies.system.deleteMany({ _id: { $in: rows.map(({ _id }) => _id) }, ...over });
    return rows.length === BATCH;
  }
}
