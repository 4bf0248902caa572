/** The remaining budget for matching, in units of filter cost (15 to 40 ns). */
export interface Work {
  left: number;
}

/** Cost of one look-up of a prefix or suffix of globs. */
export const LOOKUP_UNITS = 3;
/** Steps of a glob that cost one unit. */
export const STEPS_PER_UNIT = 4;

export const unbounded = (): Work => ({ left: Number.POSITIVE_INFINITY });
