import { MongoInvalidArgumentError } from "mongodb";

/** The first documents of an answer, and a function for the next page, `undefined` on the last. */
export type Pages = { documents: unknown[]; more: (() => Promise<unknown[]>) | undefined };

/** MongoDB's driver cursor, over a paged answer. Sends nothing before the first read. */
export class Cursor implements AsyncIterable<unknown> {
  readonly #open: (settings: CursorSettings) => Promise<Pages>;
  readonly #settings: CursorSettings;
  #pages: Pages | undefined;
  #at = 0;
  #transform: ((document: unknown) => unknown) | undefined;
  closed = false;

  constructor(settings: CursorSettings, open: (settings: CursorSettings) => Promise<Pages>) {
    this.#settings = settings;
    this.#open = open;
  }

  sort(sort: unknown, direction?: unknown): this {
    return this.#set("sort", typeof sort === "string" ? { [sort]: direction ?? 1 } : sort);
  }

  skip(skip: number): this {
    return this.#set("skip", skip);
  }

  limit(limit: number): this {
    return this.#set("limit", limit);
  }

  project(projection: unknown): this {
    return this.#set("projection", projection);
  }

  /** Has no effect: pages have the store's size. */
  batchSize(_size: number): this {
    return this;
  }

  addCursorFlag(_flag: string, _value: boolean): this {
    return this;
  }

  map(transform: (document: unknown) => unknown): this {
    const before = this.#transform;
    this.#transform = before ? (document) => transform(before(document)) : transform;
    return this;
  }

  #set(name: keyof CursorSettings, value: unknown): this {
    if (this.#pages) throw new MongoInvalidArgumentError(`Cannot set ${name} of a cursor that has been read`);
    (this.#settings as Record<string, unknown>)[name] = value;
    return this;
  }

  async next(): Promise<unknown> {
    if (!(await this.hasNext())) return null;
    return this.#show((this.#pages as Pages).documents[this.#at++]);
  }

  async tryNext(): Promise<unknown> {
    return this.next();
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
      for (; this.#at < documents.length; this.#at++) all.push(this.#show(documents[this.#at]));
    }
    return all;
  }

  async forEach(visit: (document: unknown) => unknown): Promise<void> {
    for await (const document of this) if (visit(document) === false) return;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown> {
    try {
      while (await this.hasNext()) yield await this.next();
    } finally {
      await this.close();
    }
  }

  rewind(): void {
    this.#pages = undefined;
    this.#at = 0;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.#pages = { documents: [], more: undefined };
  }

  #show(document: unknown): unknown {
    return this.#transform ? this.#transform(document) : document;
  }
}

/** Settings of a cursor before its first read, in the driver's forms. */
export type CursorSettings = { sort?: unknown; skip?: number; limit?: number; projection?: unknown };
