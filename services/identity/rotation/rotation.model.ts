import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** A key that stored secrets may be encrypted with, of the installation. `_id` is its id (lib/crypto/secrets.ts). */
export interface SecretKeyDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  created_at: t.date(),
  /** When a node has last said that it encrypts with it; null before any key was replaced. */
  active_at: t.nullable(t.date()),
  /** Since when no secret is known to be encrypted with it; null while some may be. */
  unused_since: t.nullable(t.date()),
});

export const SecretKeyModel: Model<SecretKeyDoc> = {
  erasure: { none: "ids of keys of the installation" },
  move: { none: "ids of keys of the installation" },
  name: "secret_keys",
  schema,
};
