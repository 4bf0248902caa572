import { join } from "node:path";
import type { Config } from "../../config.ts";
import { isLoopback, readServerFile } from "../../packages/client/cli/server-file.ts";
import { parseOrigin } from "../../packages/client/client.ts";
import { openOnline } from "./online.ts";
import { AdminError, type Identity, type Target } from "./target.ts";

const HEALTH_TIMEOUT_MS = 2000;

/**
 * Returns the running server, which alone may write to an embedded store; else opens the store in this process. The
 * server's file sends secrets to this machine alone, and its own to no other address than its server's.
 */
export async function openTarget(config: Config, identity: Identity): Promise<Target> {
  const path = join(config.DATA_DIR, "credentials.json");
  const { server, why } = await readServerFile(path);
  if (why && why !== "not there") throw new AdminError(`${path} ${why}`);
  const address = identity.url === undefined ? server?.base_url : parseBaseUrl(identity.url);
  if (address && (await answers(address))) {
    const isItsOwn = isLoopback(address) || (server && parseOrigin(server.base_url) === parseOrigin(address));
    if (identity.url === undefined && !isLoopback(address))
      throw new AdminError(
        `${path} names ${address}, which is not on this machine. To use it, give --url ${address}.`,
      );
    return openOnline(address, config, identity, (isItsOwn && server) || null);
  }
  if (identity.url !== undefined)
    throw new AdminError(`No server responds at ${address}. Check --url, and that the server is running.`);
  // Loaded late: the store's drivers take longer to load than a whole command to a server.
  const { openOffline } = await import("./offline.ts");
  return openOffline(config, identity.tenant ?? server?.tenant_slug ?? "default");
}

/** @throws AdminError */
function parseBaseUrl(url: string): string {
  try {
    return `${parseOrigin(url)}/v1`;
  } catch (err) {
    throw new AdminError(`--url: ${(err as Error).message}`);
  }
}

/** Whether a server answers. */
async function answers(base_url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${base_url}/healthz`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    const { status } = (await answer.json()) as { status?: string };
    return status === "ok";
  } catch {
    return false;
  }
}
