import { generateKeyPairSync, type KeyObject } from "node:crypto";
import jwt from "jsonwebtoken";
import { CLIENT_ID } from "./identity-provider.ts";
import { serving } from "./serving.ts";

/** A provider that answers as a test says, well signed or not: what a real one does not do. */
export interface FalseProvider {
  issuer: string;
  env: Record<string, string>;
  /** Changes the claims of the next ID tokens; the nonce is that of the last sign-in. */
  claims: Record<string, unknown>;
  /** Set to drop every connection. */
  away: boolean;
  /** Set to sign with another key than it publishes. */
  forged: boolean;
  /** Answers of the token endpoint instead of tokens. */
  refusal: { status: number; body: unknown } | undefined;
  /** Requests to the token endpoint so far. */
  exchanges: string[];
  stop(): Promise<void>;
}

const KID = "1";

export async function startFalseProvider(): Promise<FalseProvider> {
  const [own, other] = [newKey(), newKey()];
  const { url: issuer, close } = await serving(async (req, res) => {
    if (provider.away) return void req.destroy();
    let body = "";
    for await (const chunk of req) body += chunk;
    const { status = 200, body: answer } = answerTo(req.url as string, body);
    res.writeHead(status, { "content-type": "application/json" });
    res.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  const provider: FalseProvider = {
    issuer,
    env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_ROLES: "*=member", OIDC_NAME: "False ID" },
    ...{ claims: {}, away: false, forged: false, refusal: undefined, exchanges: [] },
    stop: close,
  };

  function answerTo(url: string, body: string): { status?: number; body: unknown } {
    if (url === "/.well-known/openid-configuration") return { body: metadata(issuer) };
    if (url === "/jwks") return { body: { keys: [{ ...own.jwk, kid: KID, use: "sig", alg: "RS256" }] } };
    provider.exchanges.push(body);
    if (provider.refusal) return provider.refusal;
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: issuer, aud: CLIENT_ID, sub: "someone", iat: now, exp: now + 60 };
    const person = { email: "someone@false.example", email_verified: true };
    const claims = JSON.parse(JSON.stringify({ ...usual, ...person, ...provider.claims }));
    const { key } = provider.forged ? other : own;
    const id_token = jwt.sign(claims, key, { algorithm: "RS256", keyid: KID });
    return { body: { access_token: "at", token_type: "Bearer", expires_in: 60, id_token } };
  }
  return provider;
}

function metadata(issuer: string): object {
  return {
    ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
}

function newKey(): { key: KeyObject; jwk: object } {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { key: privateKey, jwk: publicKey.export({ format: "jwk" }) };
}
