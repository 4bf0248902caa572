/** A subscription: an agent's interest or a channel's feed. */
export interface Subscription {
  readonly id: string;
  readonly kind: "interest" | "feed";
  /** Set for an interest. */
  readonly agent_id?: string;
  /** Set for a feed. */
  readonly channel_id?: string;
  readonly glob: string;
  /** A CEL predicate; without one the glob alone decides. */
  readonly filter?: string;
  /** Set for an interest that has matched no event. */
  readonly unmatched?: boolean;
  /** 0..9, 9 first; feeds have 0. */
  readonly priority: number;
}
