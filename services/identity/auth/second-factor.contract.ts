import { Type } from "typebox";
import { nullable, operation, optional } from "../../../lib/contract/contract.ts";
import { SECRET, Timestamp, Whole } from "../../../lib/contract/schema.ts";

export const Password = Type.String({
  ...SECRET,
  minLength: 1,
  maxLength: 256,
  description: "The current password.",
  examples: ["correct horse battery staple"],
});

export const Code = Type.String({
  ...SECRET,
  minLength: 6,
  maxLength: 40,
  description: "The current code of the authenticator; to sign in, also a recovery code.",
  examples: ["123456"],
});

export const getOwnSignInMethods = operation({
  action: "auth.sign_in_ways",
  route: "GET /auth/ways",
  summary: "Read how the signed-in person signs in",
  access: { by: "user" },
  answer: Type.Object({
    password: Type.Boolean({ description: "Whether the account has a password." }),
    totp: nullable(
      Type.Object({
        since: Timestamp,
        recovery_codes_left: Whole({ description: "Recovery codes that were not used.", examples: [10] }),
      }),
    ),
    identity: nullable(
      Type.Object(
        {
          issuer: Type.String({
            description: "The identity provider.",
            examples: ["https://id.example.com"],
          }),
          linked_at: Timestamp,
        },
        { description: "The identity that signs this person in." },
      ),
    ),
  }),
});

export const beginTotpSetup = operation({
  action: "auth.begin_totp",
  route: "POST /auth/totp",
  summary: "Begin to set up a second factor",
  description:
    "Returns a secret for an authenticator app (TOTP, RFC 6238), only here. It is in force once " +
    "`POST /auth/totp/confirm` has got a code.",
  access: { by: "user" },
  tries: true,
  overQuota: true,
  body: { password: Password },
  results: {
    201: Type.Object({
      secret: Type.String({
        description: "The secret in base32.",
        examples: ["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"],
      }),
      uri: Type.String({
        description: "The same as an address, for a QR code.",
        examples: ["otpauth://totp/Sensorium:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Sensorium"],
      }),
    }),
  },
  errors: ["validation_error", "conflict", "business_rule_violation"],
  secret: true,
});

export const confirmTotpSetup = operation({
  action: "auth.confirm_totp",
  route: "POST /auth/totp/confirm",
  summary: "Put the second factor in force",
  description: "Returns ten recovery codes, only here. Each replaces a code once.",
  access: { by: "user" },
  tries: true,
  overQuota: true,
  body: { code: Code },
  answer: Type.Object({
    recovery_codes: Type.Array(Type.String({ examples: ["abcd-efgh-ijkl-mnop"] })),
  }),
  errors: ["validation_error", "conflict"],
  secret: true,
});

export const removeTotp = operation({
  action: "auth.remove_totp",
  route: "POST /auth/totp/remove",
  summary: "Remove the second factor",
  description: "Needs the password or a recovery code.",
  access: { by: "user" },
  tries: true,
  overQuota: true,
  body: optional({
    password: Password,
    recovery_code: Type.String({
      ...SECRET,
      maxLength: 40,
      description: "A recovery code.",
      examples: ["abcd-efgh-ijkl-mnop"],
    }),
  }),
  errors: ["validation_error"],
});
