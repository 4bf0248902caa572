import { afterAll, beforeAll } from "@jest/globals";
import type { LocalIndex } from "../../storage/search/local-index.ts";
import { changeCases } from "./search/changes.ts";
import { filterCases } from "./search/filters.ts";
import { vectorCases } from "./search/vectors.ts";

/** The interface of a search index. */
export type SearchIndex = Pick<
  LocalIndex,
  | "put"
  | "drop"
  | "dropTenant"
  | "legs"
  | "useModel"
  | "waiting"
  | "unembedded"
  | "setVectors"
  | "nearDuplicates"
  | "gap"
  | "texts"
>;

/** An index under test. */
type SearchSubject = { open(): Promise<{ index: SearchIndex; stop(): Promise<void> }> };

/** The contract of every search index. */
export function searchSuite(subject: SearchSubject): void {
  let opened: Awaited<ReturnType<SearchSubject["open"]>>;
  beforeAll(async () => {
    opened = await subject.open();
  });
  afterAll(() => opened.stop());
  const index = () => opened.index;
  changeCases(index);
  filterCases(index);
  vectorCases(index);
}
