import { readFileSync } from "node:fs";
import { join } from "node:path";

const RECORDED = join(import.meta.dirname, "../../docs/examples/01-first-delivery/github.jsonl");

/** One of GitHub's webhooks: the name of its event, which it sends in a header, and its body. */
interface GithubDelivery {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: each kind of event has a different form
  payload: any;
}

/** Returns real payloads of several kinds. */
export const githubDeliveries = (): GithubDelivery[] =>
  readFileSync(RECORDED, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
