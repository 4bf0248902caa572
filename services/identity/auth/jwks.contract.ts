import { Type } from "typebox";
import { operation, optional } from "../../../lib/contract/contract.ts";

export const Jwk = Type.Object({
  kty: Type.Literal("EC"),
  crv: Type.Literal("P-256"),
  x: Type.String(),
  y: Type.String(),
  kid: Type.String(),
  use: Type.Literal("sig"),
  alg: Type.Literal("ES256"),
});

export const getJwks = operation({
  action: "auth.jwks",
  route: "GET /.well-known/jwks.json",
  root: true,
  summary: "Read the public keys of access tokens and receipts (RFC 7517)",
  access: { by: "public" },
  query: optional({
    retired: Type.Boolean({
      description:
        "Also the keys that no token is signed with any more: to verify receipts from before a rotation. Never accept tokens by them.",
      examples: [true],
    }),
  }),
  answer: Type.Object({ keys: Type.Array(Jwk) }),
});
