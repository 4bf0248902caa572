import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { UsageError } from "./usage.ts";

/** What was typed; the content of a file after `@`; what comes in for `-`. */
export async function contentOf(given: string): Promise<string> {
  if (given === "-") return readAll(process.stdin);
  return given.startsWith("@") ? readFile(given.slice(1), "utf8") : given;
}

/** The same as JSON. @throws UsageError */
export async function jsonOf(given: string, name: string): Promise<unknown> {
  const content = await contentOf(given);
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new UsageError(`${name} is no JSON: ${(error as Error).message}`);
  }
}
