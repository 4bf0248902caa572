/** @needs frameworks */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { newCertificate } from "../support/certificate.ts";
import { startChild } from "../support/child.ts";
import { api } from "../support/http.ts";
import { CONFORMANCE_SUITE, resultOf } from "../support/mcp.ts";
import { approve, attempt, registered } from "../support/oauth.ts";
import { freePort } from "../support/ports.ts";
import { startServer } from "../support/server.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused } from "../support/tenancy.ts";

// The official MCP client signs in by itself: it registers, or has a metadata document, and a person approves.

const REDIRECT = "http://127.0.0.1:43118/callback";
const certificate = newCertificate();
const LIMITS = { EMBEDDER: "none", RATE_LIMIT_PER_MINUTE: "0", PUBLIC_FAILURES_PER_MINUTE: "0" };

const pages = new Map<string, { status?: number; type?: string; location?: string; body: unknown }>();

const folder = mkdtempSync(join(tmpdir(), "sensorium-oauth-"));
const authority = join(folder, "authority.pem");
writeFileSync(authority, certificate.cert);
/** Has the clients' metadata documents, by https. */
const documents = createServer(certificate, (req, res) => {
  const {
    status = 200,
    type = "application/json",
    location,
    body,
  } = pages.get(req.url ?? "") ?? { status: 404, body: {} };
  res.writeHead(status, { "content-type": type, "cache-control": "no-store", ...(location && { location }) });
  res.end(typeof body === "string" ? body : JSON.stringify(body));
});
await new Promise<void>((resolve) => documents.listen(0, "127.0.0.1", resolve));
const env = { OPERATOR_TOKEN, OAUTH_ALLOW_PRIVATE: "true", NODE_EXTRA_CA_CERTS: authority, ...LIMITS };
const server = await startServer({ env });
const world = await makeWorld(server, "acme");
afterAll(async () => {
  documents.closeAllConnections();
  documents.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const addressOf = (path: string) => `https://localhost:${(documents.address() as AddressInfo).port}${path}`;

/** The client's stored state, and the browser that it opens. */
class Provider implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = { client_name: "Editor", redirect_uris: [REDIRECT], scope: "" };
  readonly clientMetadataUrl?: string;
  opened: URL | undefined;
  information: OAuthClientInformationMixed | undefined;
  held: OAuthTokens | undefined;
  #verifier = "";
  #discovered: OAuthDiscoveryState | undefined;

  constructor(clientMetadataUrl?: string) {
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
  }
  state = () => "state of the program";
  clientInformation = () => this.information;
  saveClientInformation = (information: OAuthClientInformationMixed) => {
    this.information = information;
  };
  tokens = () => this.held;
  saveTokens = (tokens: OAuthTokens) => {
    this.held = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.opened = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (discovered: OAuthDiscoveryState) => {
    this.#discovered = discovered;
  };
  discoveryState = () => this.#discovered;
}

const newClient = () => new Client({ name: "test", version: "1" });
const transportOf = (authProvider: Provider) =>
  new StreamableHTTPClientTransport(new URL(`${server.root}/mcp`), { authProvider });

/** Connects as a program does that knows only the address of the service. */
async function signIn(provider: Provider): Promise<Client> {
  const first = transportOf(provider);
  await expect(newClient().connect(first)).rejects.toThrow(UnauthorizedError);
  const opened = provider.opened as URL;
  expect(opened.origin + opened.pathname).toBe(`${server.root}/oauth/authorize`);
  const answer = await approve(world.admin, opened.search.slice(1), world.agentId);
  expect(answer.searchParams.get("state")).toBe("state of the program");
  await first.finishAuth(answer.searchParams);
  const client = newClient();
  await client.connect(transportOf(provider));
  return client;
}

const nameOf = async (client: Client) =>
  resultOf(await client.callTool({ name: "auth_me", arguments: {} })).agent.id as string;

test("the official MCP client registers, is approved, works, and refreshes its token by itself", async () => {
  const provider = new Provider();
  const client = await signIn(provider);
  expect(await nameOf(client)).toBe(world.agentId);
  expect(provider.information?.client_id).not.toContain("https");
  const before = provider.held as OAuthTokens;
  provider.held = { ...before, access_token: "expired" };
  expect(await nameOf(client)).toBe(world.agentId);
  expect(provider.held?.refresh_token).not.toBe(before.refresh_token);
  await client.close();
});

test("the official MCP client is known by its metadata document, whose host vouches for it", async () => {
  const client_id = addressOf("/client.json");
  pages.set("/client.json", {
    body: { client_id, client_name: "Editor of documents", redirect_uris: ["http://127.0.0.1/callback"] },
  });
  const provider = new Provider(client_id);
  const client = await signIn(provider);
  expect(await nameOf(client)).toBe(world.agentId);
  expect(provider.information?.client_id).toBe(client_id);
  const query = (provider.opened as URL).search.slice(1);
  expect(ok(await world.admin.post("/oauth/request", { query })).client).toEqual({
    ...{ id: client_id, name: "Editor of documents", uri: null, host: new URL(client_id).host },
  });
  await client.close();
});

const ask = async (client_id: string) => {
  const { query } = await attempt(await registered(server), { client_id, redirect_uri: REDIRECT });
  return world.admin.post("/oauth/request", { query });
};
const fits = (path: string) => ({ client_id: addressOf(path), redirect_uris: [REDIRECT] });

test.each([
  ["names another client", () => ({ body: { ...fits("/x.json"), client_id: addressOf("/y.json") } })],
  ["redirects", () => ({ status: 302, location: addressOf("/client.json"), body: "" })],
  ["is not there", () => ({ status: 404, body: {} })],
  ["is no JSON", () => ({ type: "text/html", body: "<html>" })],
  ["is malformed", () => ({ body: "{" })],
  ["is too long", () => ({ body: { ...fits("/x.json"), client_name: "x".repeat(20_000) } })],
  ["has no redirect URI", () => ({ body: { client_id: addressOf("/x.json") } })],
  ["has a script to redirect to", () => ({ body: { ...fits("/x.json"), redirect_uris: ["javascript:x"] } })],
  [
    "wants a secret",
    () => ({ body: { ...fits("/x.json"), token_endpoint_auth_method: "client_secret_post" } }),
  ],
])("a metadata document is refused if it %s", async (_, page) => {
  pages.set("/x.json", page());
  expect((await ask(addressOf("/x.json"))).status).toBe(400);
  pages.set("/x.json", { body: fits("/x.json") });
  expect((await ask(addressOf("/x.json"))).status).toBe(200);
});

test("a metadata document connects devices if it names their grant, and then verifies nobody", async () => {
  const grant_types = ["urn:ietf:params:oauth:grant-type:device_code"];
  pages.set("/browser.json", { body: fits("/browser.json") });
  pages.set("/device.json", { body: { ...fits("/device.json"), grant_types } });
  const query = async (path: string) => {
    const asked = new URLSearchParams({ client_id: addressOf(path) }).toString();
    const form = { "content-type": "application/x-www-form-urlencoded" };
    return `user_code=${ok(await api(server).post(`${server.root}/oauth/device`, asked, form)).user_code}`;
  };
  const refused = { query: await query("/browser.json"), decision: "approve", agent_id: world.agentId };
  for (const path of ["/oauth/request", "/oauth/decision"])
    expect(
      await world.admin.post(path, path.endsWith("request") ? { query: refused.query } : refused),
    ).toMatchObject(refusal(400, "validation_error"));
  const shown = ok(await world.admin.post("/oauth/request", { query: await query("/device.json") }));
  expect(shown).toMatchObject({ client: { host: null }, redirect_kind: null, user_code: expect.any(String) });
});

test.each([
  ...["https://localhost", "http://localhost/client.json", "https://a@localhost/x"],
  "https://localhost/a/../b",
])("a metadata document has no address like %s", (client_id) =>
  refused(ask(client_id), "validation_error", "client_id"),
);

test("a metadata document is not read from private addresses, unless the operator allows it", async () => {
  await using strict = await startShared();
  const { access_token } = ok(await api(strict).post("/auth/login", strict.credentials.admin));
  for (const host of ["localhost", "127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1"]) {
    const client_id = `https://${host}/client.json`;
    const { query } = await attempt(await registered(strict), { client_id });
    const answer = await api(strict, access_token).post("/oauth/request", { query });
    await refused(answer, "validation_error", "client_id");
    expect(answer.body.error.message).toContain("is not a public address");
  }
});

test("the official conformance suite for authorization servers passes", async () => {
  const { client } = await registered(server);
  const port = await freePort();
  const which = ["--client-id", client.client_id, "--resource", `${server.root}/mcp`, "--port", String(port)];
  const args = [CONFORMANCE_SUITE, "authorization", "--url", server.root, ...which, "--output-dir", folder];
  const run = await startChild(process.execPath, args, { cwd: folder });
  const [url] = await run.find(/http\S+\/oauth\/authorize\?\S+/);
  await run.find(/Callback server started/);
  await fetch(await approve(world.admin, new URL(url).search.slice(1), world.agentId));
  expect({ ...(await run.exited), output: run.output() }).toMatchObject({ code: 0 });
  const checks = globSync("**/checks.json", { cwd: folder }).flatMap((file) =>
    JSON.parse(readFileSync(join(folder, file), "utf8")),
  );
  expect(checks.map(({ status }) => status)).toEqual(["SUCCESS", "SUCCESS", "SUCCESS"]);
});
