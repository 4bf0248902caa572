import { expect, test } from "@jest/globals";
import { pagesBySize, upToSize } from "../../lib/broker/between-nodes.ts";

const pages = (...sizes: number[]) => [...pagesBySize(sizes, (size) => size, 10)];

test("a page holds the first rows that fit into it", () =>
  expect(upToSize([4, 6, 1], (size) => size, 10)).toEqual([4, 6]));

test("a row that is too large for a page has one to itself", () =>
  expect(pages(11, 4, 20, 3, 3)).toEqual([[11], [4], [20], [3, 3]]));

test("without rows there is no page", () => expect(pages()).toEqual([]));
