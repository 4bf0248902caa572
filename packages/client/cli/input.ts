import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { text as readAll } from "node:stream/consumers";
import type { Host } from "./environment.ts";
import { Failure, UsageError } from "./usage.ts";

/** Returns the given text, the content of a file after `@`, or standard input for `-`. */
export async function readContent({ stdin, pathOf }: Host, given: string): Promise<string> {
  if (given === "-") return readAll(stdin);
  if (!given.startsWith("@")) return given;
  return readFile(pathOf(given.slice(1)), "utf8").catch(({ message }: Error) => {
    throw new Failure(`${given.slice(1)} cannot be read: ${message}`, "unreadable_file");
  });
}

/** A program that has written nothing for this long writes nothing more. */
const SILENT_MS = 5000;

/**
 * Returns the first whole JSON object of an input, without waiting for its end, which may never come. All of it if there
 * is none.
 */
export async function firstObject(input: Readable): Promise<string> {
  const silent = setTimeout(() => input.destroy(new Error("silent")), SILENT_MS);
  const decoder = new TextDecoder();
  const scanner = new ObjectScanner();
  try {
    for await (const chunk of input) {
      silent.refresh();
      const object = scanner.take(decoder.decode(chunk as Uint8Array, { stream: true }));
      if (object !== undefined) return object;
    }
  } catch {
    // The reader judges the input so far.
  } finally {
    clearTimeout(silent);
    // An open input would keep the process.
    input.destroy();
  }
  return scanner.text;
}

/** Finds the end of a JSON object in a text that comes in chunks. */
class ObjectScanner {
  text = "";
  #at = 0;
  #depth = 0;
  #isString = false;

  take(chunk: string): string | undefined {
    this.text += chunk;
    for (; this.#at < this.text.length; this.#at++) {
      const char = this.text[this.#at];
      // The escaped character may come with the next chunk.
      if (this.#isString && char === "\\") this.#at++;
      else if (char === '"') this.#isString = !this.#isString;
      else if (this.#isString) continue;
      else if (char === "{") this.#depth++;
      else if (char === "}" && --this.#depth === 0) return this.text.slice(0, this.#at + 1);
    }
    return undefined;
  }
}

/** Returns it as a JSON object. @throws UsageError */
export async function readObject(host: Host, given: string, name: string): Promise<Record<string, unknown>> {
  const value = await readJson(host, given, name);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`${name} is not a JSON object: expected one like {"remaining": ["the third"]}.`);
  return value as Record<string, unknown>;
}

/** Returns it parsed as JSON. @throws UsageError */
export async function readJson(host: Host, given: string, name: string): Promise<unknown> {
  const content = await readContent(host, given);
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
