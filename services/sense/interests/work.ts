/** What matching may still take, in units of filter cost (15 to 40 ns). */
export interface Work {
  left: number;
}

/** One look-up of the texts that globs begin or end with. */
export const LOOKUP_UNITS = 3;
/** Steps of a glob that take as long as one unit. */
export const STEPS_PER_UNIT = 4;

export const unbounded = (): Work => ({ left: Number.POSITIVE_INFINITY });
