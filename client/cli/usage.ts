/** What is wrong with what was typed, or with what is set: told without a stack. */
export class UsageError extends Error {}
