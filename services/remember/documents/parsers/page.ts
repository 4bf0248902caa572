import { MAX_CHARACTERS } from "../../../../lib/text/blocks.ts";
import { withoutDataUris } from "../../../../lib/text/data-uris.ts";
import type { Loss } from "../documents.contract.ts";

/** A numbered part of a document, in formats that have them: a page, slide or sheet; from 1. */
export interface Page {
  page: number | null;
  text: string;
}

/** Losses of more kinds and places are counted together, after these. */
const MAX_LOSSES = 100;
const MAX_KIND = 100;
const MAX_PLACE = 300;

/** Doubts about a text that is read whole. */
export const GUESSED = "encoding guessed";
export const OPEN_QUOTE = "quote without an end";
const DOUBTS: readonly string[] = [GUESSED, OPEN_QUOTE];

/** Whether a document has more than these losses show of it. */
export const isIncomplete = (losses: readonly Loss[]) => losses.some(({ kind }) => !DOUBTS.includes(kind));

/** Collects what is not read, by its kind and place. */
export class Losses {
  readonly #losses = new Map<string, Loss>();
  /** Adds to those of the file that this one is within. */
  readonly #addOutside: Losses["add"] | undefined;

  constructor(addOutside?: Losses["add"]) {
    this.#addOutside = addOutside;
  }

  add(kind: string, place: string, count = 1): void {
    const entry = { kind: shortened(kind, MAX_KIND), place: shortened(place, MAX_PLACE), count: 0 };
    const loss = this.#known(entry) ?? this.#known({ kind: "other", place: "elsewhere", count: 0 }, 1);
    if (loss) loss.count += count;
    this.#addOutside?.(kind, place, count);
  }

  /** @param extra number of losses beyond the limit @returns undefined for a new one beyond it */
  #known(loss: Loss, extra = 0): Loss | undefined {
    const key = JSON.stringify([loss.kind, loss.place]);
    const known = this.#losses.get(key);
    if (known || this.#losses.size >= MAX_LOSSES + extra) return known;
    this.#losses.set(key, loss);
    return loss;
  }

  /** Returns the losses of a file within this one: they are added here too, with its name before each place. */
  within(name: string): Losses {
    return new Losses((kind, place, count) => this.add(kind, `${name}: ${place}`, count));
  }

  count(kind: string): number {
    return this.list().reduce((sum, loss) => sum + (loss.kind === kind ? loss.count : 0), 0);
  }

  list(): Loss[] {
    return [...this.#losses.values()];
  }

  toString(): string {
    const all = this.list().map(({ kind, place, count }) => `${count} ${kind} (${place})`);
    return all.slice(0, MOST_NAMED).join(", ") + (all.length > MOST_NAMED ? ", …" : "");
  }
}

/** Things that a reader of a file needs besides its bytes. */
export interface ReadContext {
  charset: string | undefined;
  losses: Losses;
  /** To be called before each page, from 1: returns whether it is read, and not left out. */
  beginPage(page: number): boolean;
  /** Reads a file within the file. @param name its name, or that of its part @throws UnreadableError */
  readWithin(bytes: Uint8Array, name: string, mime_type?: string): Promise<string>;
}

/** A module that reads documents, in the thread of each. */
export interface DocumentReader {
  /** @throws UnreadableError */
  read(bytes: Uint8Array, mime_type: string, context: ReadContext): Promise<Page[]>;
}

/** URLs of such modules by the media types that they read. */
export type DocumentReaders = Record<string, string>;

/** Losses that an error names. */
const MOST_NAMED = 5;

const shortened = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text.toWellFormed();

/** Reports an unreadable file. The message is for the uploader and follows "The file …". */
export class UnreadableError extends Error {}

export const tooMuchText = () =>
  new UnreadableError(`has too many characters of text; the limit is ${MAX_CHARACTERS}`);

/** Control characters divide words; tabs and line breaks stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it removes
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** Normalises the pages' text. @throws UnreadableError if there is no text, or far too much. */
export function tidied(pages: Page[], losses: Losses): Page[] {
  const tidy = pages.map(({ page, text }) => ({ page, text: tidyText(text) }));
  const characters = tidy.reduce((sum, { text }) => sum + text.length, 0);
  if (characters === 0) {
    const unread = losses.list().length ? `, and neither are: ${losses}` : "";
    throw new UnreadableError(`contains no text: images and scans are not supported${unread}`);
  }
  if (characters > MAX_CHARACTERS) throw tooMuchText();
  return tidy;
}

function tidyText(text: string): string {
  return (
    withoutDataUris(text.toWellFormed())
      .replace(/\r\n?/g, "\n")
      // They show where a word may be divided, or nothing.
      .replace(/[\u00ad\u200b\u2060\ufeff]/g, "")
      .replace(CONTROLS, " ")
      // Bounded repetitions: an unbounded one before an anchor is tried from each character.
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim()
  );
}
