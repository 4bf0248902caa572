/** Relationships that the person created since opening the console: the API does not return their creator. */
export const madeHere = new Set<string>();
