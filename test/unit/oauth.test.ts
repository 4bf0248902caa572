import { generateKeyPairSync } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import { originFor } from "../../services/edge/gateway/router.ts";
import { Tokens } from "../../services/identity/auth/tokens.ts";
import { classify, isRedirectUri, isRegistered, placeOf } from "../../services/identity/oauth/clients.ts";
import { Grants } from "../../services/identity/oauth/grants.ts";
import { resolveResource } from "../../services/identity/oauth/resources.ts";
import { temporaryStore } from "../support/own-store.ts";
import { onlyKey } from "../support/signing-key.ts";

const ORIGIN = "https://sensorium.example";

describe("a redirect URI", () => {
  test.each([
    ...["https://client.example/callback?x=1", "http://127.0.0.1/callback", "http://localhost:8123/"],
    ...["http://[::1]:1/x", "cursor://app/callback", "com.example.app:/callback"],
    "com.example.my-app.desktop:/callback",
  ])("may be %s", (uri) => expect(isRedirectUri(uri)).toBe(true));

  test.each([
    ...["http://client.example/", "http://127.0.0.1.evil.example/", "http://127.0.0.1@evil.example/"],
    ...["https://client.example/#fragment", "https://client.example\\@evil.example/", "javascript:alert(1)"],
    ...["JavaScript:alert(1)", "data:text/html,x", "blob:https://client.example/x", "file:///etc/passwd"],
    ...["ms-settings:privacy", "web+evil:/callback", "myapp://callback", "x-example-app:/callback"],
    ...["intent://scan/#Intent;scheme=x;end", "vscode-remote://host/callback", " https://client.example/"],
    ...["https://client.example/\n", "/callback", ""],
  ])("may not be %j", (uri) => expect(isRedirectUri(uri)).toBe(false));

  test.each([
    ["http://127.0.0.1:49152/callback", "http://127.0.0.1/callback"],
    ["http://127.0.0.1:49152/callback", "http://127.0.0.1:8123/callback"],
    ["http://[::1]:49152/callback", "http://[::1]/callback"],
    ["https://client.example/callback", "https://client.example/callback"],
  ])("%s is the registered %s", (given, registered) =>
    expect(isRegistered(given, ["https://other.example/", registered])).toBe(true),
  );

  test.each([
    ["https://client.example:444/callback", "https://client.example/callback"],
    ["https://client.example/callback/", "https://client.example/callback"],
    ["https://client.example/callback?x", "https://client.example/callback"],
    ["https://client.example/a/../callback", "https://client.example/callback"],
    ["https://CLIENT.example/callback", "https://client.example/callback"],
    ["http://localhost/callback", "http://127.0.0.1/callback"],
    ["http://127.0.0.1:8123/Callback", "http://127.0.0.1/callback"],
    ["cursor://app:1/callback", "cursor://app/callback"],
  ])("%s is not the registered %s", (given, registered) =>
    expect(isRegistered(given, [registered])).toBe(false),
  );

  test("is shown by its host, or by the scheme of a program", () => {
    const uris = [
      ...["https://client.example:444/x", "http://127.0.0.1:1/", "https://localhost/", "com.example.a:/x"],
    ];
    expect(uris.map((uri) => [placeOf(uri), classify(uri)])).toEqual([
      ["client.example:444", "site"],
      ["127.0.0.1:1", "computer"],
      ["localhost", "computer"],
      ["com.example.a:", "app"],
    ]);
  });
});

test("a resource is one of this service, MCP by default", () => {
  expect(resolveResource(undefined, ORIGIN)).toBe(`${ORIGIN}/mcp`);
  expect(resolveResource(`${ORIGIN}/`, ORIGIN)).toBe(ORIGIN);
  expect(resolveResource("https://SENSORIUM.example/v1/mcp", ORIGIN)).toBe(`${ORIGIN}/v1/mcp`);
  for (const given of [null, "", " ", `${ORIGIN}/mcp ${ORIGIN}/mcp/`])
    expect(resolveResource(given, ORIGIN)).toBe(`${ORIGIN}/mcp`);
  for (const spelling of [
    "HTTPS://Sensorium.Example/mcp",
    ...[`${ORIGIN}:443/mcp/`, `${ORIGIN}/mcp?tools=work`, `${ORIGIN}/%6Dcp`, `${ORIGIN}/v1/../mcp`],
  ])
    expect(resolveResource(spelling, ORIGIN)).toBe(`${ORIGIN}/mcp`);
  for (const other of [
    ...[`${ORIGIN}/mcp#tools`, `https://user@sensorium.example/mcp`, `${ORIGIN}:444/mcp`, `${ORIGIN}/MCP`],
    `${ORIGIN}/mcp ${ORIGIN}`,
  ])
    expect(resolveResource(other, ORIGIN)).toBeNull();
  for (const other of [`${ORIGIN}/v1`, "https://evil.example/mcp", `${ORIGIN}.evil.example/mcp`, "mcp"])
    expect(resolveResource(other, ORIGIN)).toBeNull();
});

test("the origin is PUBLIC_URL, else the loopback name in the request, else the address", () => {
  const socket = { localAddress: "::ffff:127.0.0.1", localPort: 3000 };
  const at = (host: string | undefined, publicUrl: string | null) =>
    originFor({ headers: { host }, socket } as unknown as IncomingMessage, publicUrl);
  expect(at("localhost:3000", `${ORIGIN}/`)).toBe(ORIGIN);
  expect(at("localhost:3000", "https://Sensorium.example:443")).toBe(ORIGIN);
  expect(at("localhost:4000", null)).toBe("http://localhost:4000");
  expect(at("[::1]:3000", null)).toBe("http://[::1]:3000");
  for (const host of ["evil.example", "localhost.evil.example", "localhost:1@evil.example", undefined])
    expect(at(host, null)).toBe("http://127.0.0.1:3000");
});

describe("a token for a resource", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = { tenant_id: "tn_1", agent_id: "ag_1", key_id: "key_1", token_version: 0 };
  const read = (issuedAt: string | null, readAt: string | null, resource: string) => {
    const more = { scopes: ["send" as const], key_expires_at: null, resource };
    const { access_token } = new Tokens(onlyKey(privateKey), issuedAt).issue(
      { ...subject, ...more },
      Date.now(),
    );
    return new Tokens(onlyKey(privateKey), readAt).read(access_token, Date.now());
  };

  test.each([
    [ORIGIN, ORIGIN, undefined],
    ["https://SENSORIUM.example:443/", ORIGIN, undefined],
    [ORIGIN, `${ORIGIN}/mcp`, "mcp"],
    [ORIGIN, `${ORIGIN}/v1/mcp`, "mcp"],
    [null, "http://127.0.0.1:3000", undefined],
    [null, "http://localhost:3000/mcp", "mcp"],
  ])("of %s, %s, is for its part alone", (publicUrl, resource, only) => {
    expect(read(publicUrl, publicUrl, resource)?.only).toBe(only);
    expect(read(publicUrl, publicUrl, resource)).toMatchObject({ agent_id: "ag_1" });
  });

  test.each([
    [ORIGIN, "https://other.example/mcp"],
    [ORIGIN, `${ORIGIN}/v1`],
    [null, "https://other.example"],
    [null, "http://localhost.evil.example/mcp"],
  ])("of %s, %s, is none", (publicUrl, resource) => expect(read(publicUrl, publicUrl, resource)).toBeNull());
});

test("the former refresh token gives the next one again for ten seconds, and no other ever does", async () => {
  const files = await temporaryStore();
  try {
    let now = Date.UTC(2026, 0, 31);
    const grants = new Grants(
      { ...files.store, now: () => now } as never,
      new SecretBox(Buffer.alloc(32, 1)),
    );
    const opened = await grants.open({ tenant_id: "tn_1", redirect_uri: "x:/", refreshable: true } as never);
    const first = await grants.activate(opened, "key_1");
    const second = first && (await grants.rotate(first));
    if (!second) throw new Error("not rotated");
    const [former, valid] = [first, second].map((grant) => grants.refreshTokenOf(grant));
    const tell = async (token = "") => {
      const found = await grants.byRefreshToken(token);
      return found && [found.isValid, found.isRetry];
    };
    now += 9999;
    expect([await tell(former), await tell(valid)]).toEqual([
      [false, true],
      [true, false],
    ]);
    now += 1;
    expect([await tell(former), await tell(valid)]).toEqual([
      [false, false],
      [true, false],
    ]);
    await grants.rotate(second);
    expect([await tell(former), await tell(valid)]).toEqual([
      [false, false],
      [false, true],
    ]);
  } finally {
    await files.remove();
  }
});
