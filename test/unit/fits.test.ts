import { expect, test } from "@jest/globals";
import { requireFit } from "../support/fits.ts";

const url = "http://127.0.0.1:1/v1/memories?limit=1";

test.each([
  ["a list that lacks a field", "GET", 200, { memories: [] }, /GET \/v1\/memories 200 .*required property/],
  ["a memory that is none", "POST", 201, { id: 1 }, /POST \/v1\/memories 201/],
  ["an error without its envelope", "POST", 400, { message: "no" }, /required property 'error'/],
])("%s does not fit", (_, method, status, body, told) => {
  expect(() => requireFit({ method, url, status, body })).toThrow(told);
});

test.each([
  ["what fits", "GET", 200, { memories: [], total: 0, next_cursor: null }],
  ["a text", "GET", 200, "text"],
  ["a status that is not declared", "GET", 418, {}],
  ["a method that is not declared", "PATCH", 200, {}],
])("%s is let be", (_, method, status, body) => {
  requireFit({ method, url, status, body });
});
