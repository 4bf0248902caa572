// The local index and that of Atlas are to find the same: what both go by.

/** How many candidates each leg brings. */
export const LEG_SIZE = 60;
/** So many of the best of each leg bring the entries beside them too. */
export const WITH_NEIGHBOURS = 40;
/** How many neighbours a candidate shows, to each side. */
export const CONTEXT = 4;
/** More near-duplicates of one entry than these are not told: of many that are alike each has its nearest. */
export const MOST_DUPLICATES = 3;
