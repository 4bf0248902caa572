import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import jwt from "jsonwebtoken";
import { Tokens } from "../../services/identity/auth/tokens.ts";
import { onlyKey } from "../support/signing-key.ts";

const NOW = Date.UTC(2026, 0, 31, 9, 30);
const HOUR = 3_600_000;
const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const key = newKey();
const signing = onlyKey(key);
const tokens = new Tokens(signing, "here");
const { jwk } = signing.signer();
const AGENT = {
  tenant_id: "tn_1",
  agent_id: "ag_1",
  key_id: "key_1",
  token_version: 2,
  scopes: ["send"],
  key_expires_at: null,
} as const;
const USER = { tenant_id: "tn_1", user_id: "usr_1", role: "member", token_version: 3 } as const;

describe("Tokens", () => {
  test("a token says whom it is for, for one hour", () => {
    const { access_token, token_type, expires_at } = tokens.issue(AGENT, NOW);
    expect([token_type, expires_at]).toEqual(["Bearer", new Date(NOW + HOUR).toISOString()]);
    const {
      kind,
      tenant_id,
      agent_id,
      key_id,
      scopes,
      expires_at: end,
    } = tokens.read(access_token, NOW) as never;
    expect({ kind, tenant_id, agent_id, key_id, scopes, end }).toEqual({
      ...{ kind: "agent", tenant_id: "tn_1", agent_id: "ag_1", key_id: "key_1", scopes: ["send"] },
      end: NOW + HOUR,
    });
    expect(tokens.read(access_token, NOW + HOUR - 1000)).not.toBeNull();
    expect(tokens.read(access_token, NOW + HOUR)).toBeNull();
  });

  test("a person's token carries the role, its scopes and the version of the password", () => {
    const caller = tokens.read(tokens.issue(USER, NOW).access_token, NOW);
    expect(caller).toMatchObject({ kind: "user", user_id: "usr_1", role: "member", token_version: 3 });
    expect(caller).toMatchObject({ session_id: expect.stringMatching(/^sid_/) });
    expect(caller?.scopes).not.toContain("admin");
    expect(caller?.scopes).toContain("memory:write");
  });

  test("a token ends with its key", () => {
    const { expires_at } = tokens.issue({ ...AGENT, key_expires_at: NOW + 60_000 }, NOW);
    expect(expires_at).toBe(new Date(NOW + 60_000).toISOString());
    const last = tokens.issue({ ...AGENT, key_expires_at: NOW + 900 }, NOW + 800);
    expect(last.expires_at).toBe(new Date(NOW + 1000).toISOString());
  });

  test("anyone can check it with the published key, and finds the claims that are promised", () => {
    const { access_token } = tokens.issue(AGENT, NOW);
    const publicKey = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
    const options = { algorithms: ["ES256" as const], clockTimestamp: NOW / 1000, complete: true as const };
    const { header, payload } = jwt.verify(access_token, publicKey, options);
    expect(header).toMatchObject({ alg: "ES256", kid: jwk.kid });
    expect(payload).toEqual({
      ...{ iss: "here", aud: "sensorium", sub: "ag_1", iat: NOW / 1000, exp: NOW / 1000 + 3600 },
      ...{ jti: expect.stringMatching(/^jti_/), tenant_id: "tn_1", agent_id: "ag_1", key_id: "key_1" },
      ...{ scopes: ["send"], token_version: 2 },
    });
    expect(jwk).not.toHaveProperty("d");
  });

  const claims = { iss: "here", aud: "sensorium", exp: NOW / 1000 + 60, tenant_id: "tn_1", user_id: "usr_1" };
  const good = tokens.issue(AGENT, NOW).access_token;
  const [head, body, signature] = good.split(".") as [string, string, string];
  const publicPem = createPublicKey(key).export({ type: "spki", format: "pem" }) as string;
  const altered = Buffer.from(Buffer.from(body, "base64url").toString().replace("send", "admi")).toString(
    "base64url",
  );
  test.each([
    ["no token at all", "nonsense"],
    ["one of another key", jwt.sign(claims, newKey(), { algorithm: "ES256", keyid: jwk.kid })],
    ["one that names no key", jwt.sign(claims, key, { algorithm: "ES256" })],
    ["another issuer's", jwt.sign({ ...claims, iss: "there" }, key, { algorithm: "ES256", keyid: jwk.kid })],
    [
      "another audience's",
      jwt.sign({ ...claims, aud: "other" }, key, { algorithm: "ES256", keyid: jwk.kid }),
    ],
    ["a receipt", tokens.receipt({ tenant_id: "tn_1", user_id: "usr_1" }, NOW)],
    ["an unsigned one", jwt.sign(claims, null, { algorithm: "none", keyid: jwk.kid })],
    ["one signed with the public key as a secret", hs256(claims, publicPem)],
    ["altered claims", [head, altered, signature].join(".")],
    ["a missing signature", `${head}.${body}.`],
    ["a signature cut short", good.slice(0, -3)],
    ["a signature with more behind it", `${good}AAAA`],
    ["a header that is no JSON", `${Buffer.from("{").toString("base64url")}.${body}.${signature}`],
    ["claims that are no JSON", `${head}.${Buffer.from("{").toString("base64url")}.${signature}`],
  ])("%s is refused", (_, token) => expect(tokens.read(token, NOW)).toBeNull());
});

// By hand: jsonwebtoken itself refuses to make one.
function hs256(claims: object, secret: string): string {
  const token = jwt.sign(claims, "stand-in", { algorithm: "HS256", keyid: jwk.kid });
  const signed = token.slice(0, token.lastIndexOf("."));
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
