/** A subscription: an agent's interest, a channel's feed, or a wait for one event (waits.ts). */
export interface Subscription {
  readonly id: string;
  readonly kind: "interest" | "feed" | "wait";
  /** Set for an interest. */
  readonly agent_id?: string;
  /** Set for a feed. */
  readonly channel_id?: string;
  /** Set for a wait: events accepted earlier, in ms since 1970, do not count; and who must be allowed to see them. */
  readonly begun_at?: number;
  readonly reader_id?: string;
  readonly glob: string;
  /** A CEL predicate; without one the glob alone decides. */
  readonly filter?: string;
  /** Set for an interest that has matched no event. */
  readonly unmatched?: boolean;
  /** 0..9, 9 first; feeds have 0. */
  readonly priority: number;
}
