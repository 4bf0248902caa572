import type { IncomingMessage } from "node:http";
import { serving } from "./serving.ts";

type Packument = { name: string; versions: Record<string, object>; "dist-tags": Record<string, string> };

/** The body of `npm publish`: the packument of the version, and the tarballs in base64. */
type Publication = Packument & { _attachments: Record<string, { data: string }> };

/** A registry of npm packages on loopback. */
export interface Registry {
  /** Variables with which npm publishes to it and installs from it. */
  env: Record<string, string>;
  published(): string[];
  stop(): Promise<void>;
}

/**
 * Starts a registry that has what npm publishes to it, and refers npm to another one for the packages of others.
 *
 * @param own names that it never asks the other one for
 * @param upstream address of the other one
 */
export async function startRegistry(own: string[], upstream: string): Promise<Registry> {
  const packages = new Map<string, Packument>();
  const tarballs = new Map<string, Buffer>();
  const { url, close } = await serving(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://127.0.0.1").pathname);
    const name = /^\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? "";
    const answer = (status: number, body: object | Buffer) =>
      response.writeHead(status).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
    if (request.method === "PUT") {
      take(JSON.parse(await textOf(request)));
      return answer(201, { ok: true });
    }
    const found = tarballs.get(path) ?? (path === `/${name}` && packages.get(name));
    if (found) return answer(200, found);
    if (own.includes(name) || request.method !== "GET") return answer(404, { error: "not found" });
    response.writeHead(302, { location: new URL(path.slice(1), upstream).href }).end();
  });
  const { host } = new URL(url);

  function take({ _attachments, ...packument }: Publication): void {
    const { name, versions, "dist-tags": tags } = packument;
    const known = packages.get(name);
    packages.set(name, {
      name,
      versions: { ...known?.versions, ...versions },
      "dist-tags": { ...known?.["dist-tags"], ...tags },
    });
    for (const [file, { data }] of Object.entries(_attachments))
      tarballs.set(`/${name}/-/${file}`, Buffer.from(data, "base64"));
  }

  return {
    env: {
      npm_config_registry: `http://${host}/`,
      // npm publishes only with a token; any will do.
      [`npm_config_//${host}/:_authToken`]: "token",
      no_proxy: ["127.0.0.1", process.env.no_proxy].filter(Boolean).join(),
    },
    published: () => [...packages.keys()].sort(),
    stop: close,
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
