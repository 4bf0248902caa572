/** Relationships that the person made since the console was opened: nothing that is read of one says who made it. */
export const madeHere = new Set<string>();
