import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import { newApiKey } from "../../../lib/access/api-key.ts";
import { isUnreached } from "../../../lib/broker/between-nodes.ts";
import { isFault } from "../../../lib/contract/faults.ts";
import { newPassword } from "../../../lib/crypto/password.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { makeDirectory, replaceFile, syncDirectory } from "../../../lib/files.ts";
import { newId } from "../../../lib/ids.ts";
import type { Log } from "../../../observability/log.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { StoreError } from "../../../storage/connection.ts";
import { RECOVERY } from "../../../storage/data-directory.ts";
import type { Runtime } from "../../runtime.ts";
import { firstIds } from "./founding.ts";
import { type TenantDoc, TenantModel } from "./tenants.model.ts";

const SLUG = "default";
/** Services that founding a tenant calls, on any node. */
const FOUNDERS = ["tenants", "users", "agents", "keys"];
const LOOK_MS = 200;

/** Credentials of the first tenant, stored in `DATA_DIR/credentials.json`. */
export interface Credentials {
  base_url: string;
  ingest_url: string;
  tenant_id: string;
  tenant_slug: string;
  admin: { email: string; password: string };
  agent: { id: string; api_key: string };
}

interface Start {
  broker: ServiceBroker;
  runtime: Runtime;
  /** The API's address: `http://HOST:PORT/v1`. */
  baseUrl: string;
  /** The origin that webhooks are sent to. */
  ingestUrl: string;
}

/**
 * Creates the tenant `default` with an admin, an agent and a key on an empty store, and writes the credentials file.
 * The secrets are first written to a pending file and the rows created from it, so that the next start finishes an
 * interrupted one. Later starts only update the addresses in the file.
 * @returns the credentials, to be shown once; null if there was nothing to create.
 */
export async function ensureFirstTenant(start: Start): Promise<Credentials | null> {
  const { broker, runtime, baseUrl: base_url, ingestUrl: ingest_url } = start;
  const { config, store, secrets } = runtime;
  const file = join(config.DATA_DIR, "credentials.json");
  const pendingFile = join(config.DATA_DIR, ".credentials.pending");
  const addresses = { base_url, ingest_url };
  const pending = await readCredentials(pendingFile);
  if (!(await isToBeMade(store.collection(TenantModel), pending))) {
    await rm(pendingFile, { force: true });
    await updateAddresses(file, addresses);
    return null;
  }
  if (!pending) await refuseLostRecord(runtime, file);
  const credentials = { ...(pending ?? newCredentials(secrets)), ...addresses };
  await makeDirectory(config.DATA_DIR);
  await replaceFile(pendingFile, format(credentials));
  if (!(await makeTenant(broker, runtime.log, credentials))) {
    await rm(pendingFile);
    return null;
  }
  await rename(pendingFile, file);
  await syncDirectory(config.DATA_DIR);
  return credentials;
}

/** Whether the first tenant is missing, or was begun with these credentials. */
async function isToBeMade(
  tenants: TenantCollection<TenantDoc>,
  pending: Credentials | null,
): Promise<boolean> {
  const begun = pending && (await tenants.findOne(pending.tenant_id, { _id: pending.tenant_id }));
  if (begun) return begun.status === "founding" || begun.status === "active";
  return (await tenants.system.findOne({ status: { $in: ["active", "suspended"] } })) === null;
}

/** @throws StoreError if a first start has written the credentials, and the embedded store holds no tenant, not even an erased one */
async function refuseLostRecord({ config, store }: Runtime, file: string): Promise<void> {
  if (store.driver !== "sqlite" || !(await readCredentials(file))) return;
  if (await store.collection(TenantModel).system.findOne({})) return;
  throw new StoreError(
    `DATA_DIR ${config.DATA_DIR} cannot be used: it contains ${file} of a first start, but the database has no tenant: its ` +
      `data is lost. ${RECOVERY}. To begin without data, delete ${file}`,
  );
}

/**
 * Returns false if another node that shares the record has created the first tenant meanwhile. Founding is idempotent:
 * if a node goes away during it, it is retried once its services are back.
 */
async function makeTenant(broker: ServiceBroker, log: Log, credentials: Credentials): Promise<boolean> {
  const { tenant_id, admin, agent } = credentials;
  const founding = { tenant_id, slug: SLUG, name: "Default", admin, api_key: agent.api_key };
  for (;;) {
    try {
      await broker.call("tenants.found", founding);
      return true;
    } catch (err) {
      if (isFault(err) && err.type === "conflict") return false;
      if (!isUnreached(err)) throw err;
      log.warn({ err }, "the first tenant is not created yet: waiting for other nodes");
      await sleep(LOOK_MS);
      await broker.waitForServices(FOUNDERS, 0, LOOK_MS);
    }
  }
}

function newCredentials(secrets: SecretBox): Credentials {
  const tenant_id = newId("tn");
  return {
    base_url: "",
    ingest_url: "",
    tenant_id,
    tenant_slug: SLUG,
    admin: { email: `admin@${SLUG}.localhost`, password: newPassword(secrets) },
    agent: { id: firstIds(tenant_id).agent_id, api_key: newApiKey(secrets) },
  };
}

async function updateAddresses(file: string, addresses: Pick<Credentials, "base_url" | "ingest_url">) {
  const known = await readCredentials(file);
  if (!known) return;
  if (known.base_url === addresses.base_url && known.ingest_url === addresses.ingest_url) return;
  await replaceFile(file, format({ ...known, ...addresses }));
}

/** Returns null if there is no such file, or if it is not ours and must stay unchanged. */
async function readCredentials(file: string): Promise<Credentials | null> {
  try {
    const read = JSON.parse(await readFile(file, "utf8")) as Credentials | null;
    return read?.tenant_id && read.agent?.api_key && read.admin?.password ? read : null;
  } catch (err) {
    if (err instanceof SyntaxError || (err as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw err;
  }
}

function format(credentials: Credentials): string {
  return `${JSON.stringify(credentials, null, 2)}\n`;
}
