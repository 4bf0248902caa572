import { createHash, randomBytes, randomUUID, scryptSync } from "node:crypto";
import { existsSync } from "node:fs";
import { type Sealed, SecretBox } from "../../lib/crypto/secrets.ts";
import { VERSION } from "../../lib/version.ts";
import * as moving from "../../services/identity/tenants/moving.contract.ts";
import { ArchiveWriter, type Entry, readArchive } from "./archive.ts";
import {
  AdminError,
  type Command,
  option,
  readGiven,
  type Target,
  type Typed,
  tenantOf,
  word,
} from "./typed.ts";

/** Layout of the file. Newer ones are refused. */
const FORMAT = 1;
const MANIFEST = "manifest.json";
const TOTALS = "totals.json";
const ROWS = /^rows\/([a-z0-9_]+)\/\d+\.ndjson$/;
const CONTENT = /^contents\/([0-9a-f]{64})\/\d+(\.last)?$/;
const LEAST_PASSPHRASE = 12;
const COST = { N: 131_072, r: 8, p: 1, maxmem: 268_435_456 };
/** Contents that are remembered as written; above this some are written again. */
const MOST_REMEMBERED = 100_000;
const MOST_SHOWN = 50;

interface Manifest {
  format: number;
  version: string;
  export_id: string;
  created_at: string;
  tenant: { id: string; slug: string; [field: string]: unknown };
  /** The salt of the key that the passphrase gives; null: secrets are left out. */
  salt: string | null;
}

interface Totals {
  collections: Record<string, { rows: number; sha256: string }>;
  contents: number;
  /** Contents that rows of the tenant refer to and that were gone. */
  missing: number;
  /** SHA-256 of all entries before. */
  sha256: string;
  /** The same, encrypted with the key: shows that the passphrase is right. */
  sealed: string | null;
}

/** The answer to the beginning or the end of an import. */
type Begun = { status: string; slug: string; done: boolean };

/** Commands that move a tenant between installations. */
export const MOVE_COMMANDS: Record<string, Command> = {
  "tenants export": {
    takes: "SLUG FILE [--passphrase-file PATH] [--without-secrets]",
    does: "Export a tenant with all its data into a file, also while it is used",
    run: exportToFile,
  },
  "tenants import": {
    takes: "FILE [--as SLUG] [--passphrase-file PATH]",
    does: "Import a tenant from such a file; repeat it to continue one that was cut off",
    run: importFile,
  },
};

async function exportToFile(target: Target, typed: Typed) {
  const file = word(typed, 1, "FILE");
  if ((typed.options["passphrase-file"] === undefined) === (typed.options["without-secrets"] === undefined))
    throw new AdminError(
      "Give either --passphrase-file PATH, to encrypt the secrets in the file, or --without-secrets.",
    );
  if (existsSync(file)) throw new AdminError(`${file} already exists. Give a new file name.`);
  const { id: tenant_id } = await tenantOf(target, typed);
  const salt = typed.options["without-secrets"] === undefined ? randomBytes(16).toString("base64") : null;
  const key = await keyOf(typed, salt);
  const { tenant, collections } = (await target.call(moving.exportTenant, { tenant_id })) as {
    tenant: Manifest["tenant"];
    collections: string[];
  };
  const created_at = new Date().toISOString();
  const manifest: Manifest = {
    ...{ format: FORMAT, version: VERSION, export_id: randomUUID(), created_at, tenant, salt },
  };
  const archive = await ArchiveWriter.create(file);
  try {
    const { sha256, sealed, ...counted } = await writeExport(target, archive, { manifest, collections, key });
    return {
      file,
      bytes: archive.bytes,
      tenant,
      export_id: manifest.export_id,
      secrets: secretsOf(manifest),
      ...counted,
    };
  } catch (err) {
    await archive.discard();
    throw err;
  }
}

/** Reads the tenant page by page into the archive. */
async function writeExport(
  target: Target,
  archive: ArchiveWriter,
  { manifest, collections, key }: { manifest: Manifest; collections: string[]; key: string | null },
): Promise<Totals> {
  const tenant_id = manifest.tenant.id;
  const sums = new Sums();
  const add = async (path: string, content: Buffer) => {
    sums.add({ path, content });
    await archive.add(path, content);
  };
  await add(MANIFEST, toJson(manifest));
  const copied = new Set<string>();
  let missing = 0;
  for (const collection of collections) {
    let after: string | null = null;
    for (let page = 1; page === 1 || after !== null; page++) {
      const { rows, count, blobs, next } = (await target.call(moving.exportTenantRows, {
        ...{ tenant_id, collection, after, key },
      })) as { rows: string; count: number; blobs: string[]; next: string | null };
      // Before the rows that refer to them.
      for (const hash of blobs) {
        if (copied.has(hash)) continue;
        if (copied.size >= MOST_REMEMBERED) copied.clear();
        copied.add(hash);
        if (!(await copyContent(target, tenant_id, hash, add))) missing++;
      }
      if (count > 0) await add(`rows/${collection}/${page}.ndjson`, Buffer.from(rows));
      after = next;
    }
    report(`${collection}: ${sums.rowsOf(collection)}`);
  }
  const totals = sums.totals(key, missing);
  await archive.add(TOTALS, toJson(totals));
  await archive.end();
  return totals;
}

/** Copies a content into the archive, in parts; returns false if it is gone. */
async function copyContent(
  target: Target,
  tenant_id: string,
  hash: string,
  add: (path: string, content: Buffer) => Promise<void>,
): Promise<boolean> {
  let from: number | null = 0;
  for (let part = 1; from !== null; part++) {
    const query = { tenant_id, hash, from };
    const read = (await target.call(moving.exportTenantContent, query).catch((err) => {
      // Deleted meanwhile with its row, or long ago.
      if (part > 1 || !(err instanceof AdminError && err.code === "not_found")) throw err;
      return null;
    })) as { content: string; next: number | null } | null;
    if (!read) return false;
    const path = `contents/${hash}/${part}${read.next === null ? ".last" : ""}`;
    await add(path, Buffer.from(read.content, "base64"));
    from = read.next;
  }
  return true;
}

async function importFile(target: Target, typed: Typed) {
  const file = word(typed, 0, "FILE");
  // Everything is verified before anything is written.
  report(`checking ${file}`);
  const { manifest, totals } = await verify(file);
  const key = await keyOf(typed, manifest.salt);
  requirePassphrase(key, totals);
  const { export_id, tenant } = manifest;
  const tenantIn = ({ status, slug }: Begun) => ({ id: tenant.id, status, slug });
  const body = { tenant: { ...tenant, slug: typed.options.as ?? tenant.slug }, export_id };
  const begun = (await target.call(moving.importTenant, body)) as Begun;
  if (begun.done) return { imported_already: true, export_id, tenant: tenantIn(begun) };
  const counts = { added: 0, same: 0, left_out: 0, contents: 0 };
  const refused: { id: string; reason: string }[] = [];
  const unset: string[] = [];
  let parts: string[] = [];
  let current = "";
  for await (const { path, content } of readArchive(file)) {
    const [, collection] = ROWS.exec(path) ?? [];
    if (collection) {
      if (collection !== current) report(`${collection}: ${totals.collections[collection]?.rows ?? 0}`);
      current = collection;
      const page = { tenant_id: tenant.id, collection, rows: content.toString(), key };
      const done = (await target.call(moving.importTenantRows, page)) as unknown as typeof counts & {
        refused: typeof refused;
        unset: string[];
      };
      for (const name of ["added", "same", "left_out"] as const) counts[name] += done[name];
      refused.push(...done.refused.map(({ id, reason }) => ({ id: `${collection}/${id}`, reason })));
      unset.push(...done.unset);
    }
    const [, hash, last] = CONTENT.exec(path) ?? [];
    if (hash) {
      parts.push(
        await putPart(target, tenant.id, {
          hash,
          content,
          isWhole: last !== undefined && parts.length === 0,
        }),
      );
      if (last === undefined) continue;
      await joinParts(target, tenant.id, hash, parts);
      parts = [];
      counts.contents++;
    }
  }
  const again = unset.length > 0 && { set_again: unset };
  const result = { ...counts, refused: refused.length, ...again, export_id };
  if (refused.length > 0) throw refusal({ ...result, tenant: tenantIn(begun) }, refused);
  const opened = (await target.call(moving.importTenant, { ...body, complete: true })) as Begun;
  return { ...result, tenant: tenantIn(opened) };
}

/** Reads a whole export without using it. @throws AdminError unless it is as it was written */
async function verify(file: string): Promise<{ manifest: Manifest; totals: Totals }> {
  const altered = (what: string) =>
    new AdminError(`${file} was altered or cut off: ${what}. Export it again.`);
  const sums = new Sums();
  let manifest: Manifest | undefined;
  let totals: Totals | undefined;
  for await (const entry of readArchive(file)) {
    if (totals) throw altered("it continues after its end");
    if (entry.path === TOTALS) {
      totals = JSON.parse(entry.content.toString()) as Totals;
      continue;
    }
    if (!manifest) manifest = readManifest(file, entry);
    else if (!ROWS.test(entry.path) && !CONTENT.test(entry.path)) throw altered(`it contains ${entry.path}`);
    sums.add(entry);
  }
  if (!manifest || !totals) throw altered("its end is missing");
  const { collections, contents, sha256 } = sums.totals(null, 0);
  for (const [name, { rows, sha256: digest }] of Object.entries(totals.collections)) {
    const counts = collections[name];
    if (counts?.rows !== rows || counts.sha256 !== digest) throw altered(`${name} differs from its digest`);
  }
  if (sums.wrongContent) throw altered(`the content ${sums.wrongContent} differs from its digest`);
  if (contents !== totals.contents || sha256 !== totals.sha256) throw altered("it differs from its digest");
  return { manifest, totals };
}

function readManifest(file: string, { path, content }: Entry): Manifest {
  if (path !== MANIFEST) throw new AdminError(`${file} is not an export of a tenant.`);
  const manifest = JSON.parse(content.toString()) as Manifest;
  if (manifest.format > FORMAT)
    throw new AdminError(
      `${file} was created by a newer Sensorium (${manifest.version}, format ${manifest.format}; this one reads up to ${FORMAT}). Update first.`,
    );
  return manifest;
}

/** Counts and digests of entries as they pass. */
class Sums {
  wrongContent: string | undefined;
  readonly #all = createHash("sha256");
  readonly #collections = new Map<string, { rows: number; hash: ReturnType<typeof createHash> }>();
  #contents = 0;
  #content = createHash("sha256");

  add({ path, content }: Entry): void {
    this.#all.update(path).update(content);
    const [, collection] = ROWS.exec(path) ?? [];
    if (collection) {
      const sum = this.#collections.get(collection) ?? { rows: 0, hash: createHash("sha256") };
      this.#collections.set(collection, sum);
      sum.hash.update(content);
      for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) sum.rows++;
    }
    const [, hash, last] = CONTENT.exec(path) ?? [];
    if (!hash) return;
    this.#content.update(content);
    if (last === undefined) return;
    this.#contents++;
    if (this.#content.digest("hex") !== hash) this.wrongContent ??= hash;
    this.#content = createHash("sha256");
  }

  rowsOf(collection: string): number {
    return this.#collections.get(collection)?.rows ?? 0;
  }

  totals(key: string | null, missing: number): Totals {
    const collections = [...this.#collections].map(([name, { rows, hash }]) => [
      name,
      { rows, sha256: hash.copy().digest("hex") },
    ]);
    const sha256 = this.#all.copy().digest("hex");
    const sealed = key && boxOf(key).seal(sha256, TOTALS);
    return {
      collections: Object.fromEntries(collections),
      contents: this.#contents,
      missing,
      sha256,
      sealed,
    };
  }
}

/** Stores a part, or a whole content unless it is there; returns its hash. */
async function putPart(
  target: Target,
  tenant_id: string,
  { hash, content, isWhole }: { hash: string; content: Buffer; isWhole: boolean },
): Promise<string> {
  if (isWhole) {
    const there = await target.call(moving.importTenantContent, { tenant_id, hash });
    if (there.hash) return hash;
  }
  const stored = await target.call(moving.importTenantContent, {
    tenant_id,
    content: content.toString("base64"),
  });
  return stored.hash as string;
}

async function joinParts(target: Target, tenant_id: string, hash: string, parts: string[]): Promise<void> {
  const stored =
    parts.length === 1
      ? { hash: parts[0] }
      : await target.call(moving.importTenantContent, { tenant_id, parts });
  if (stored.hash !== hash)
    throw new AdminError(`The content ${hash} arrived as ${stored.hash}. Import again.`);
}

function refusal(result: object, refused: { id: string; reason: string }[]): AdminError {
  const lines = refused.slice(0, MOST_SHOWN).map(({ id, reason }) => `  ${id} ${reason}`);
  const more = refused.length > MOST_SHOWN ? [`  … and ${refused.length - MOST_SHOWN} more`] : [];
  const what = "The tenant stays closed. Erase it here (tenants erase), and import again.";
  const refusals = [`${refused.length} rows were refused. ${what}`, ...lines, ...more];
  return new AdminError(`${JSON.stringify(result, null, 2)}\n${refusals.join("\n")}`);
}

/** Returns the key that the passphrase gives, in base64; null without a salt. @throws AdminError */
async function keyOf(typed: Typed, salt: string | null): Promise<string | null> {
  if (salt === null) return null;
  const file = option(typed, "passphrase-file");
  const text = await readGiven("passphrase-file", file);
  const passphrase = text.trimEnd();
  if (passphrase.length < LEAST_PASSPHRASE)
    throw new AdminError(`--passphrase-file: expected at least ${LEAST_PASSPHRASE} characters in ${file}.`);
  const key = scryptSync(passphrase.normalize("NFKC"), Buffer.from(salt, "base64"), 32, COST);
  return key.toString("base64");
}

function requirePassphrase(key: string | null, { sealed, sha256 }: Totals): void {
  if (key === null) return;
  try {
    if (boxOf(key).open((sealed ?? "") as Sealed, TOTALS) === sha256) return;
  } catch {
    // Falls through.
  }
  throw new AdminError("--passphrase-file: the passphrase is not the one of this export.");
}

const boxOf = (key: string) => new SecretBox(Buffer.from(key, "base64"));
const secretsOf = ({ salt }: Manifest) => (salt === null ? "left out" : "encrypted with the passphrase");
const toJson = (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
const report = (text: string) => void process.stderr.write(`${text}\n`);
