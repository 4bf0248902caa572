import type { Api } from "./http.ts";
import { ok } from "./tenancy.ts";

/** Four steps: what comes after both `b` and `c`, which come after `a`. */
export const DIAMOND = [
  { step_key: "a", title: "Begin" },
  { step_key: "b", depends_on: ["a"] },
  { step_key: "c", depends_on: ["a"] },
  { step_key: "d", depends_on: ["b", "c"] },
];

/** A run of a diamond, or of what `body` says. */
export const newRun = async (by: Api, body: object = {}) =>
  ok(await by.post("/runs", { goal: "Get it done", steps: DIAMOND, ...body }));

/** The path of something about a run. */
export const at = (run: { id: string }, what: string) => `/runs/${run.id}/${what}`;

/** Starts, completes, skips or reopens a step. */
export const act = (by: Api, run: { id: string }, what: string, body: object) =>
  by.post(at(run, `steps/${what}`), body);

export const keysOf = (steps: { step_key: string }[]) => steps.map(({ step_key }) => step_key);
