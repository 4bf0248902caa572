import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { link, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory, syncDirectory, writeSynced } from "../files.ts";

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = "v1";

/**
 * Encrypts secrets that must be readable (AES-256-GCM): signing secrets, the token key, stored answers with a secret.
 */
export class SecretBox {
  readonly #key: Buffer;

  /** @param key 32 bytes. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @param place The owner of the text (`agents/ag_1`): a sealed text does not open for another place. */
  seal(text: string, place: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${sealed.toString("base64url")}`;
  }

  /** @throws SecretError when the text was sealed with another key or for another place, or was altered. */
  open(sealed: string, place: string): string {
    const [version, body = ""] = sealed.split(".");
    const bytes = Buffer.from(body, "base64url");
    if (version !== VERSION || bytes.length < IV_BYTES + TAG_BYTES) throw unopened(place);
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return (
        decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8")
      );
    } catch {
      throw unopened(place);
    }
  }

  /**
   * Returns bytes for a new secret. With a seed (an honoured Idempotency-Key) the same request creates the same
   * secret, so that a retry after a crash can return a secret even if only its hash is stored.
   */
  random(size: number, purpose: string, seed?: string): Buffer {
    if (!seed) return randomBytes(size);
    return Buffer.from(hkdfSync("sha256", this.#key, seed, purpose, size));
  }
}

/** A secret for signing requests, encrypted. */
export interface SigningSecret {
  sealed: string;
  /** When it expires; null for the newest. */
  ends_at: Date | null;
}

/** An unusable key, or a stored secret that this node's key does not open. */
export class SecretError extends Error {}

function unopened(place: string): SecretError {
  return new SecretError(
    `The secret ${place} cannot be decrypted: it was encrypted with another key. Restore the former SECRET_KEY, or secret.key in DATA_DIR.`,
  );
}

/** Returns the box of a node, with `SECRET_KEY` (32 bytes in base64) or the key in the data directory. */
export async function openSecretBox(secretKey: string | null, dataDir: string): Promise<SecretBox> {
  return new SecretBox(secretKey ? Buffer.from(secretKey, "base64") : await keyOfDataDir(dataDir));
}

/**
 * Returns the key of this data directory, created on first use: `secret.key`, readable only by its owner.
 *
 * @throws SecretError if the file is not a key: a new key would make every stored secret unreadable.
 */
async function keyOfDataDir(dataDir: string): Promise<Buffer> {
  const file = join(dataDir, "secret.key");
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

function parseKeyFile(file: string, text: string): Buffer {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== KEY_BYTES)
    throw new SecretError(
      `${file} is not a key: expected ${KEY_BYTES} bytes in base64. Restore it from a backup.`,
    );
  return key;
}
