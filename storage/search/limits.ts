// Limits shared by the local index and Atlas, so that both find the same.

/** Candidates per leg. */
export const LEG_SIZE = 60;
/** This many of the best of each leg also bring their neighbours. */
export const WITH_NEIGHBOURS = 40;
/** Neighbours of a candidate, to each side. */
export const CONTEXT = 4;
/** Near-duplicates reported per entry: of many similar entries each has its nearest. */
export const MOST_DUPLICATES = 3;
