import { AbstractCursor, FindCursor, MongoInvalidArgumentError } from "mongodb";
import { refuseOthers } from "./options.ts";

/** The first documents of an answer, and a function for the next page, `undefined` on the last. */
export type Pages = { documents: unknown[]; more: (() => Promise<unknown[]>) | undefined };

/** Settings of a cursor before its first read, in the driver's forms. */
export type CursorSettings = {
  sort?: unknown;
  skip?: number | undefined;
  limit?: number | undefined;
  projection?: unknown;
};

/** MongoDB's driver cursor, over a paged answer. Sends nothing before the first read. */
export class Cursor implements AsyncIterable<unknown> {
  readonly #open: (settings: CursorSettings) => Promise<Pages>;
  readonly #settings: CursorSettings;
  #pages: Pages | undefined;
  #at = 0;
  closed = false;

  constructor(settings: CursorSettings, open: (settings: CursorSettings) => Promise<Pages>) {
    this.#settings = settings;
    this.#open = open;
  }

  sort(sort: object): this {
    return this.#set({ sort });
  }

  skip(skip: number): this {
    return this.#set({ skip });
  }

  limit(limit: number): this {
    return this.#set({ limit });
  }

  #set(settings: CursorSettings): this {
    if (this.#pages) throw new MongoInvalidArgumentError("Cursor is already initialized");
    Object.assign(this.#settings, settings);
    return this;
  }

  async next(): Promise<unknown> {
    return (await this.hasNext()) ? (this.#pages as Pages).documents[this.#at++] : null;
  }

  async hasNext(): Promise<boolean> {
    if (this.closed) return false;
    this.#pages ??= await this.#open(this.#settings);
    while (this.#at >= this.#pages.documents.length && this.#pages.more) {
      this.#pages.documents = await this.#pages.more();
      this.#at = 0;
    }
    return this.#at < this.#pages.documents.length;
  }

  async toArray(): Promise<unknown[]> {
    const all: unknown[] = [];
    while (await this.hasNext()) {
      const { documents } = this.#pages as Pages;
      for (; this.#at < documents.length; this.#at++) all.push(documents[this.#at]);
    }
    return all;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown> {
    try {
      while (await this.hasNext()) yield await this.next();
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.#pages = { documents: [], more: undefined };
  }
}

refuseOthers(Cursor, FindCursor, "cursor");
refuseOthers(Cursor, AbstractCursor, "cursor");
