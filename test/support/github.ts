import { createRequire } from "node:module";

/** One of GitHub's webhooks: the name of its event, which it sends in a header, and its body. */
interface GithubDelivery {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: each kind of event has a different form
  payload: any;
}

/** Real payloads of all kinds, as contributed to `@octokit/webhooks-examples`. */
export function githubDeliveries(): GithubDelivery[] {
  const kinds: { name: string; examples: unknown[] }[] = createRequire(import.meta.url)(
    "@octokit/webhooks-examples",
  );
  return kinds.flatMap(({ name, examples }) => examples.map((payload) => ({ name, payload })));
}
