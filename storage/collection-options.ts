import type { FairQueue } from "../lib/queue/fair-queue.ts";
import type { Front } from "./front.ts";
import type { Growth } from "./usage/growth.ts";

/** Is called with the blobs that rows of a tenant no longer reference. */
export type Dropped = (tenant_id: string, hashes: string[]) => Promise<void>;

/** What a collection needs besides its rows. */
export interface CollectionOptions {
  /** Counts inserted bytes; without it nothing is counted. */
  growth?: Growth | undefined;
  /** The model's large fields. */
  large?: readonly string[];
  /** For the connections to a record that has a limit of them. */
  queue?: FairQueue | null;
  /** The fields that reference blobs (`Model.blobs`). */
  blobs?: { fields: readonly string[]; dropped: Dropped };
  /** Returns the front of these rows, if they have one by now. */
  front?: () => Front | undefined;
}
