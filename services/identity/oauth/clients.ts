import type { Static } from "typebox";
import { AddressRefused } from "../../../connectors/address-guard.ts";
import { fetchDocument } from "../../../connectors/document-fetch.ts";
import { isFault } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import type { Share } from "../../../lib/queue/fair-queue.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { INSTALLATION } from "../../../storage/model.ts";
import type { Runtime } from "../../runtime.ts";
import { DEVICE_GRANT, GRANTS, type registerOauthClient } from "./oauth.contract.ts";
import { type ClientDoc, ClientModel } from "./oauth.model.ts";
import { oauthFault } from "./oauth-fault.ts";

/** A client that nobody has approved is forgotten. */
const UNUSED_MS = DAY_MS;
const USED_MS = 90 * DAY_MS;
const MOST_DOCUMENTS = 500;
const KEPT_SECONDS = 300;
const LONGEST_KEPT_SECONDS = 86_400;

type ClientMetadata = Static<NonNullable<typeof registerOauthClient.body>["metadata"]>;

/** A program that asks to act as an agent. */
export interface Client {
  id: string;
  name: string;
  uri: string | null;
  redirect_uris: readonly string[];
  grant_types: readonly string[];
  /** The host of its metadata document, which vouches for it; null for one that has registered itself. */
  host: string | null;
}

/** Clients that have registered themselves, and those whose id is the URL of their metadata document. */
export class Clients {
  readonly #runtime: Pick<Runtime, "store" | "resolver" | "config">;
  readonly #rows: TenantCollection<ClientDoc>;
  readonly #documents = new LruMap<string, { client: Client; until: number }>(MOST_DOCUMENTS);

  constructor(runtime: Pick<Runtime, "store" | "resolver" | "config">) {
    this.#runtime = runtime;
    this.#rows = runtime.store.collection(ClientModel);
  }

  /** @throws Fault in OAuth's form */
  async register(metadata: ClientMetadata): Promise<ClientDoc> {
    const { client_name, client_uri } = metadata;
    const redirect_uris = metadata.redirect_uris ?? [];
    const grant_types = supportedGrants(metadata.grant_types);
    if (!grant_types.some((grant) => grant !== "refresh_token"))
      throw oauthFault("invalid_client_metadata", `grant_types: expected ${GRANTS.slice(0, 3).join(", ")}.`);
    if (redirect_uris.length === 0 && grant_types.includes("authorization_code"))
      throw oauthFault("invalid_redirect_uri", "redirect_uris: expected at least one URI.");
    requireRedirectUris(redirect_uris);
    const now = this.#runtime.store.now();
    return this.#rows.insert({
      _id: newUuid(),
      tenant_id: INSTALLATION,
      name: shownName(client_name) || "Unnamed client",
      uri: webPage(client_uri),
      redirect_uris: [...redirect_uris],
      grant_types: [...grant_types],
      created_at: new Date(now),
      expires_at: new Date(now + UNUSED_MS),
    });
  }

  /**
   * Returns a client.
   * @param share of the person who asks: only people have documents read
   * @throws Fault invalid_client in OAuth's form
   */
  async find(client_id: string, share: Share): Promise<Client> {
    if (isDocumentUrl(client_id)) return this.#readDocument(client_id, share);
    const doc = await this.#rows.findOne(INSTALLATION, { _id: client_id });
    if (!doc || doc.expires_at.getTime() <= this.#runtime.store.now()) throw unknownClient(client_id);
    const { _id: id, name, uri, redirect_uris, grant_types } = doc;
    return { id, name, uri, redirect_uris, grant_types, host: null };
  }

  /**
   * Requires a client that may begin with a device. The document of a URL is read, and decides, once a person asks.
   * @throws Fault invalid_client, unauthorized_client in OAuth's form
   */
  async requireDevice(client_id: string): Promise<void> {
    if (isDocumentUrl(client_id)) return;
    const doc = await this.#rows.findOne(INSTALLATION, { _id: client_id });
    if (!doc) throw unknownClient(client_id);
    requireGrant({ id: client_id, grant_types: doc.grant_types }, DEVICE_GRANT);
  }

  /** Whether an id is that of a public client: it has no secret to get tokens by itself with. */
  async isPublic(client_id: string): Promise<boolean> {
    return isDocumentUrl(client_id) || this.#rows.exists(INSTALLATION, { _id: client_id });
  }

  /** Keeps a registered client that is used. */
  async used(client_id: string): Promise<void> {
    const $set = { expires_at: new Date(this.#runtime.store.now() + USED_MS) };
    await this.#rows.update(INSTALLATION, { _id: client_id }, { $set });
  }

  async #readDocument(url: string, share: Share): Promise<Client> {
    const known = this.#documents.get(url);
    if (known && known.until > performance.now()) return known.client;
    const { resolver, config } = this.#runtime;
    const allowPrivate = config.OAUTH_ALLOW_PRIVATE;
    const { value, max_age_seconds } = await fetchDocument(url, { resolver, share, allowPrivate }).catch(
      (err: Error) => {
        if (isFault(err)) throw err;
        throw oauthFault("invalid_client", `The client's document ${url} cannot be read: ${reasonOf(err)}.`);
      },
    );
    const client = parseClient(url, value);
    const seconds = Math.min(max_age_seconds ?? KEPT_SECONDS, LONGEST_KEPT_SECONDS);
    this.#documents.set(url, { client, until: performance.now() + seconds * 1000 });
    return client;
  }
}

function reasonOf(err: Error & { code?: string }): string {
  return err instanceof AddressRefused ? err.message : (err.code ?? err.message);
}

/** Whether an id is the address of a metadata document: https, with a path, in the form that a URL parser writes. */
function isDocumentUrl(client_id: string): boolean {
  if (!client_id.startsWith("https://") || !URL.canParse(client_id)) return false;
  const { href, pathname, hash, username, password } = new URL(client_id);
  return href === client_id && pathname !== "/" && !hash && !username && !password;
}

/** @throws Fault invalid_client, invalid_redirect_uri for a document that does not describe this public client */
function parseClient(url: string, value: unknown): Client {
  const document = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const { client_id, client_name, client_uri, redirect_uris, grant_types } = document;
  const { token_endpoint_auth_method = "none" } = document;
  const refuse = (why: string) => oauthFault("invalid_client", `The client's document ${url}: ${why}.`);
  if (client_id !== url) throw refuse("its client_id is not its own address");
  if (token_endpoint_auth_method !== "none")
    throw refuse("token_endpoint_auth_method: only none is supported");
  if (!Array.isArray(redirect_uris) || redirect_uris.some((uri) => typeof uri !== "string"))
    throw refuse("redirect_uris: expected a list of URIs");
  requireRedirectUris(redirect_uris);
  if (grant_types != null && !Array.isArray(grant_types)) throw refuse("grant_types: expected a list");
  const { host } = new URL(url);
  const shown = { name: shownName(client_name) || host, uri: webPage(client_uri), host };
  return { id: url, ...shown, redirect_uris, grant_types: supportedGrants(grant_types) };
}

/** The grants that a client offers; by default those of most, a code and refresh tokens. */
function supportedGrants(grants: readonly unknown[] | null | undefined): string[] {
  const offered = grants ?? ["authorization_code", "refresh_token"];
  return GRANTS.slice(0, 3).filter((grant) => offered.includes(grant));
}

/** @throws Fault unauthorized_client in OAuth's form, for a grant that the client's metadata does not name */
export function requireGrant({ id, grant_types }: Pick<Client, "id" | "grant_types">, grant: string): void {
  if (grant_types.includes(grant)) return;
  const message = `The client ${id.slice(0, 200)} does not offer ${grant}: its grant_types do not name it.`;
  throw oauthFault("unauthorized_client", message);
}

function requireRedirectUris(uris: readonly string[]): void {
  const wrong = uris.find((uri) => !isRedirectUri(uri));
  if (wrong === undefined) return;
  const expected =
    "https, http on this machine, or an app's scheme such as com.example.app, without a fragment";
  throw oauthFault(
    "invalid_redirect_uri",
    `redirect_uris: expected ${expected}, got ${wrong.slice(0, 200)}.`,
  );
}

/** Returns a name for people: without characters that hide others, or reorder what they read. */
function shownName(name: unknown): string {
  if (typeof name !== "string") return "";
  const spaced = name.replace(/\s+/g, " ").replace(/\p{C}/gu, "");
  return spaced.trim().slice(0, 200);
}

/** Returns the address of a page that may be linked to. */
function webPage(uri: unknown): string | null {
  return typeof uri === "string" && URL.canParse(uri) && new URL(uri).protocol === "https:" ? uri : null;
}

function unknownClient(client_id: string) {
  const message = `There is no client ${client_id.slice(0, 200)}. Register it, or use the URL of its metadata document.`;
  return oauthFault("invalid_client", message);
}

const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);

/**
 * Schemes of apps: names in reverse that their developers own (RFC 8252, section 7.1), and those of editors that are
 * older than the rule. Others belong to nobody, to the browser or to the system, and some work remotely.
 */
const APP = /^(?:[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+|cursor|vscode|vscode-insiders|windsurf):$/;

/**
 * Whether a client may have answers sent to a URI: https, http to this machine, or the scheme of an app.
 * Without a fragment, a user and a password.
 */
export function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text) || /[\s\\#]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return false;
  if (protocol === "https:") return hostname !== "";
  if (protocol === "http:") return LOOPBACK.has(hostname);
  return APP.test(protocol);
}

/**
 * Returns where answers to a URI go: to a program on the person's computer, an app by its scheme, which any app can claim,
 * or a site.
 */
export function classify(redirect_uri: string): "computer" | "app" | "site" {
  const { protocol, hostname } = new URL(redirect_uri);
  if (protocol !== "https:" && protocol !== "http:") return "app";
  return LOOPBACK.has(hostname) ? "computer" : "site";
}

/** Whether a given URI is a registered one: equal, except for the port of a loopback address (RFC 8252, section 7.3). */
export function isRegistered(redirect: string, registered: readonly string[]): boolean {
  if (!isRedirectUri(redirect)) return false;
  return registered.some((uri) => uri === redirect || withoutPort(uri) === withoutPort(redirect));
}

function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d+/, "$1");
}

/** Returns the host that a person knows a URI by; the scheme of an app. */
export function placeOf(redirect_uri: string): string {
  const { protocol, host } = new URL(redirect_uri);
  return /^https?:$/.test(protocol) ? host : protocol;
}
