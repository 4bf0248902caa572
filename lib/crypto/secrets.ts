import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { link, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory, replaceFile, syncDirectory, writeSynced } from "../files.ts";

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 6;
const VERSION = "v1";

declare const SEALED: unique symbol;

/** An encrypted text: `v1.BODY.KEY`, where KEY names the key; absent in texts of older versions. */
export type Sealed = string & { readonly [SEALED]: true };

interface Key {
  bytes: Buffer;
  /** A fingerprint, which reveals nothing about the key. */
  id: string;
}

/**
 * Encrypts secrets that must be readable (AES-256-GCM): signing secrets, the token key, stored answers with a secret. It
 * encrypts with the active key; the others, its fallbacks, decrypt only.
 */
export class SecretBox {
  /** The active one first. */
  #keys: readonly Key[];
  readonly #file: string | null;
  /** Changes of the file, one after the other: none may lose a key of another. */
  #writing: Promise<void> = Promise.resolve();

  /** @param keys 32 bytes each, the active one first @param file that holds them; null if settings give them */
  constructor(keys: Buffer | readonly Buffer[], file: string | null = null) {
    this.#keys = [keys].flat().map((bytes) => toKey(bytes as Buffer));
    this.#file = file;
  }

  /** Ids of the keys, the active one first. */
  get keyIds(): [string, ...string[]] {
    return this.#keys.map(({ id }) => id) as [string, ...string[]];
  }

  /** Whether the keys are in a file of this node, which can change them. */
  get isOnFile(): boolean {
    return this.#file !== null;
  }

  /** @param place The owner of the text (`agents/ag_1`): a sealed text does not open for another place. */
  seal(text: string, place: string): Sealed {
    const { bytes, id } = this.#active;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", bytes, iv).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${sealed.toString("base64url")}.${id}` as Sealed;
  }

  /** @throws SecretError when no key here has sealed the text, it was sealed for another place, or was altered. */
  open(sealed: Sealed, place: string): string {
    const [version, body = "", named] = sealed.split(".");
    const bytes = Buffer.from(body, "base64url");
    const keys = this.#keys.filter(({ id }) => named === undefined || id === named);
    if (version !== VERSION || bytes.length < IV_BYTES + TAG_BYTES) throw unopened(place, named);
    for (const key of keys) {
      const decipher = createDecipheriv("aes-256-gcm", key.bytes, bytes.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, "utf8");
        return text + decipher.final("utf8");
      } catch {
        // Another key may have sealed it.
      }
    }
    throw unopened(place, named);
  }

  /**
   * Returns bytes for a new secret. With a seed (an honoured Idempotency-Key) the same request creates the same
   * secret, so that a retry after a crash can return a secret even if only its hash is stored. The seed names its key: see
   * `newSeed`.
   */
  random(size: number, purpose: string, seed?: string): Buffer {
    if (!seed) return randomBytes(size);
    const named = seed.slice(seed.lastIndexOf(".") + 1);
    return derive(this.#keys.find(({ id }) => id === named) ?? this.#active, size, purpose, seed);
  }

  /** Returns a text for the end of a seed, so that it gives the same secrets after the key was replaced. */
  newSeed(unique: string): string {
    return `${unique}.${this.#active.id}`;
  }

  /** Returns a keyed digest of a text, in base64url: stored forms and proofs. */
  digest(size: number, purpose: string, text: string): string {
    return derive(this.#active, size, purpose, text).toString("base64url");
  }

  /** Returns the digests of a text by all keys, to find one that was stored before the key was replaced. */
  digests(size: number, purpose: string, text: string): string[] {
    return this.derivations(size, purpose, text).map((digest) => digest.toString("base64url"));
  }

  derivations(size: number, purpose: string, text: string): Buffer[] {
    return this.#keys.map((key) => derive(key, size, purpose, text));
  }

  /** Whether a digest of a text is by one of the keys, in constant time. */
  isDigest(claimed: string, size: number, purpose: string, text: string): boolean {
    return this.digests(size, purpose, text).some((digest) => isSame(claimed, digest));
  }

  /** Writes a new active key to the file; the others stay as fallbacks. */
  replaceKey(): Promise<void> {
    return this.#change((keys) => [toKey(randomBytes(KEY_BYTES)), ...keys]);
  }

  dropFallbacks(ids: readonly string[]): Promise<void> {
    const isKept = ({ id }: Key) => !ids.includes(id);
    return this.#change(([active, ...fallbacks]) => [active as Key, ...fallbacks.filter(isKept)]);
  }

  get #active(): Key {
    return this.#keys[0] as Key;
  }

  /** The file comes first: after a crash every key that has sealed something is there. */
  #change(change: (keys: readonly Key[]) => Key[]): Promise<void> {
    const written = this.#writing.then(async () => {
      if (this.#file === null)
        throw new SecretError("The keys are settings: only the operator changes them.");
      const keys = change(this.#keys);
      await replaceFile(this.#file, keys.map(({ bytes }) => `${bytes.toString("base64")}\n`).join(""));
      this.#keys = keys;
    });
    this.#writing = written.catch(() => {});
    return written;
  }
}

const toKey = (bytes: Buffer): Key => ({ bytes, id: idOf(bytes) });

function idOf(key: Buffer): string {
  return Buffer.from(hkdfSync("sha256", key, "", "key id", ID_BYTES)).toString("hex");
}

function derive({ bytes }: Key, size: number, purpose: string, text: string): Buffer {
  return Buffer.from(hkdfSync("sha256", bytes, text, purpose, size));
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Matches texts that a key other than the given one has sealed, or that do not name their key. */
export function sealedByOthers(key_id: string): { $regex: string } {
  return { $regex: `^${VERSION}\\.(?!.*\\.${key_id}$)` };
}

export interface SigningSecret {
  sealed: Sealed;
  /** When it expires; null for the newest. */
  ends_at: Date | null;
}

/** Returns where the signing secrets of an owner (`agents/ag_1`) are sealed. */
export function signingPlace(owner: string): string {
  return `${owner}/signing`;
}

/** An unusable key, or a stored secret that this node's keys do not open. */
export class SecretError extends Error {}

export const RESTORE_KEY = "Add it to SECRET_KEY_FALLBACKS, or restore secret.key in DATA_DIR from a backup.";

function unopened(place: string, key_id = "another one"): SecretError {
  return new SecretError(
    `The secret ${place} cannot be decrypted: its key (${key_id}) is not here. ${RESTORE_KEY}`,
  );
}

interface KeySettings {
  SECRET_KEY: string | null;
  SECRET_KEY_FALLBACKS: readonly string[];
  DATA_DIR: string;
}

/** Returns the box of a node, with `SECRET_KEY` (32 bytes in base64) or the keys in the data directory. */
export async function openSecretBox(settings: KeySettings): Promise<SecretBox> {
  const { SECRET_KEY, SECRET_KEY_FALLBACKS, DATA_DIR } = settings;
  if (SECRET_KEY)
    return new SecretBox([SECRET_KEY, ...SECRET_KEY_FALLBACKS].map((key) => Buffer.from(key, "base64")));
  return new SecretBox(await keysOfDataDir(DATA_DIR), fileIn(DATA_DIR));
}

const fileIn = (dataDir: string) => join(dataDir, "secret.key");

/**
 * Returns the keys of this data directory, one a line and the active one first: `secret.key`, created on first use and
 * readable only by its owner.
 *
 * @throws SecretError if a line is not a key: a new key would make every stored secret unreadable.
 */
async function keysOfDataDir(dataDir: string): Promise<Buffer[]> {
  const file = fileIn(dataDir);
  const read = async () => parseKeyFile(file, await readFile(file, "utf8"));
  try {
    return await read();
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== "ENOENT") throw err;
  }
  await makeDirectory(dataDir);
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await writeSynced(draft, `${randomBytes(KEY_BYTES).toString("base64")}\n`);
  // A link fails if the name exists, so of two concurrent first starts one wins and both read its key.
  await link(draft, file).catch((err: NodeJS.ErrnoException) => {
    if (err.code !== "EEXIST") throw err;
  });
  await rm(draft);
  await syncDirectory(dataDir);
  return read();
}

function parseKeyFile(file: string, text: string): Buffer[] {
  const keys = text.trim().split("\n");
  return keys.map((line) => {
    const key = Buffer.from(line.trim(), "base64");
    if (key.length === KEY_BYTES) return key;
    throw new SecretError(
      `${file} is not a key: expected ${KEY_BYTES} bytes in base64. Restore it from a backup.`,
    );
  });
}
