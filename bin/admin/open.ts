import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { originOf } from "../../packages/client/client.ts";
import type { Credentials } from "../../services/identity/tenants/first-start.ts";
import { openOnline } from "./online.ts";
import { AdminError, type Identity, type Target } from "./target.ts";

const HEALTH_TIMEOUT_MS = 2000;

/** Returns the running server, which alone may write to an embedded store; else opens the store in this process. */
export async function openTarget(config: Config, identity: Identity): Promise<Target> {
  const credentials = await readCredentials(config.DATA_DIR);
  const address = identity.url === undefined ? credentials?.base_url : baseUrlOf(identity.url);
  if (address && (await answers(address))) return openOnline(address, config, identity, credentials);
  if (identity.url !== undefined)
    throw new AdminError(`No server responds at ${address}. Check --url, and that the server is running.`);
  // Loaded late: the store's drivers take longer to load than a whole command to a server.
  const { openOffline } = await import("./offline.ts");
  return openOffline(config, identity.tenant ?? credentials?.tenant_slug ?? "default");
}

async function readCredentials(dataDir: string): Promise<Credentials | null> {
  try {
    return JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8")) as Credentials;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new AdminError(`credentials.json in ${dataDir} cannot be read: ${(err as Error).message}`);
  }
}

/** @throws AdminError */
function baseUrlOf(url: string): string {
  try {
    return `${originOf(url)}/v1`;
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
