import { SECRET } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

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
