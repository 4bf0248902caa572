import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Timestamp } from "../../../lib/contract/schema.ts";

const operator = { by: "operator" } as const;

const Kind = oneOf(["secret", "signing"]);

const Rotation = component("InstallationKeys", {
  secret_key: Type.Object({
    active: Type.String({
      description: "Id of the key that encrypts stored secrets: a fingerprint.",
      examples: ["5f3c9a01b7de"],
    }),
    kept_in: oneOf(["file", "settings"], {
      description: "`file`: this operation replaces the key. `settings`: replace `SECRET_KEY` on every node.",
    }),
    fallbacks: Type.Array(Type.String(), { description: "Ids of the keys that decrypt only." }),
    in_use: Type.Array(Type.String(), {
      description:
        "Ids of the fallbacks that stored secrets may still be encrypted with. The others can be removed.",
    }),
    left: Type.Record(Type.String(), Type.Integer(), {
      description: "Rows whose secrets are yet to be encrypted with the active key, by collection.",
      examples: [{ webhooks: 12 }],
    }),
    nodes: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: "Ids of the keys of each node, the active one first.",
    }),
  }),
  signing_keys: Type.Array(
    Type.Object({
      kid: Type.String(),
      state: oneOf(["published", "signing", "verifying"], {
        description: "`published`: in the JWKS, signs from `signs_at`. `verifying`: until `ends_at`.",
      }),
      signs_at: Timestamp,
      ends_at: nullable(Timestamp),
    }),
  ),
});

export const readRotation = operation({
  action: "rotation.read",
  route: "GET /rotation",
  summary: "Read the state of the installation's keys",
  access: operator,
  answer: Rotation,
});

export const startRotation = operation({
  action: "rotation.start",
  route: "POST /rotation",
  summary: "Replace the installation's keys",
  description:
    "Stored secrets are encrypted with the new secret key in the background, while requests are served. A new signing " +
    "key is published for ten minutes, then signs; tokens of the former one are valid until they expire.",
  access: operator,
  body: {
    ...optional({
      keys: Type.Array(Kind, {
        minItems: 1,
        description:
          "`secret`: encrypts stored secrets. `signing`: signs tokens. Default: both, or `signing` if `SECRET_KEY` is set.",
        examples: [["signing"]],
      }),
      at_once: Type.Boolean({
        description: "After a leak: the new signing key signs now, and every token of the former ones ends.",
        examples: [true],
      }),
    }),
  },
  answer: Rotation,
  errors: ["conflict", "business_rule_violation"],
});

export const finishRotation = operation({
  action: "rotation.finish",
  route: "POST /rotation/finish",
  summary: "Remove the former secret keys",
  description:
    "Only once no stored secret is encrypted with them. Former keys in settings are removed there.",
  access: operator,
  answer: Rotation,
  errors: ["conflict", "business_rule_violation"],
});
