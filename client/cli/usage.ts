/** What is wrong with what was typed: told without a stack, with the command's usage. */
export class UsageError extends Error {}

/** What went wrong outside of the program, in words that say what to do: told without a stack. */
export class Failure extends Error {}
