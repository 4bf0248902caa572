import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { Failure, UsageError } from "./usage.ts";

/** Returns the given text, the content of a file after `@`, or standard input for `-`. */
export async function contentOf(given: string): Promise<string> {
  if (given === "-") return readAll(process.stdin);
  if (!given.startsWith("@")) return given;
  return readFile(given.slice(1), "utf8").catch(({ message }: Error) => {
    throw new Failure(`${given.slice(1)} cannot be read: ${message}`, "unreadable_file");
  });
}

/** Returns it as a JSON object. @throws UsageError */
export async function objectOf(given: string, name: string): Promise<Record<string, unknown>> {
  const value = await jsonOf(given, name);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`${name} is not a JSON object: expected one like {"remaining": ["the third"]}.`);
  return value as Record<string, unknown>;
}

/** Returns it parsed as JSON. @throws UsageError */
export async function jsonOf(given: string, name: string): Promise<unknown> {
  const content = await contentOf(given);
  try {
    // A number that parses to infinity would be sent as null.
    return JSON.parse(content, (key, value) => {
      if (typeof value !== "number" || Number.isFinite(value)) return value;
      throw new RangeError(`the number ${key && `at ${key} `}is beyond the range of a double (1.8e308)`);
    });
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`${name} cannot be sent: ${error.message}.`);
    const hint = /^[\w ]+$/.test(content) ? `; put a text in double quotes: '"${content}"'` : "";
    throw new UsageError(`${name} is not JSON: ${(error as Error).message}${hint}`);
  }
}
