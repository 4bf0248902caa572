import { presentAs } from "../../lib/contract/present-as.ts";
import { subjectOf } from "../../lib/contract/subject.ts";
import { fromStored } from "../../lib/text/namespace.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../storage/model.ts";
import { StateEntry } from "./state.contract.ts";

/** A text that an agent keeps under a namespace and a key, which `_id` combines with the agent. */
export interface StateDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  agent_id: t.string(),
  /** As `toStored` makes it. */
  namespace: t.text(),
  key: t.text(),
  version: t.number(),
  /** Null if it is a blob: `hash`. */
  value: t.nullable(t.large(t.text())),
  hash: t.nullable(t.string()),
  size: t.number(),
  /** JSON: callers' keys must have no meaning in the store. */
  metadata: t.large(t.texts(t.json())),
  /** The people that `metadata.subject` names. */
  subjects: t.array(t.text()),
  created_at: t.date(),
  updated_at: t.date(),
  expires_at: t.nullable(t.date()),
  /** Of the Idempotency-Key that wrote this version. */
  seed: t.optional(t.string()),
});
schema.index({ tenant_id: 1, agent_id: 1, namespace: 1, key: 1 });
schema.index({ tenant_id: 1, hash: 1 });
schema.index({ tenant_id: 1, subjects: 1 });
schema.index({ expires_at: 1 });

export const StateModel: Model<StateDoc> = {
  erasure: { agent: "state.erase", subject: "state.erase" },
  move: { stage: 0 },
  name: "state",
  schema,
  blobs: ["hash"],
};

/** Formats an entry without its value. */
export function present(doc: StateDoc) {
  const metadata = JSON.parse(doc.metadata);
  const namespace = fromStored(doc.namespace);
  return presentAs(StateEntry, doc, { namespace, metadata, subject: subjectOf(metadata), value: null });
}

/** Formats an entry with its value, or the reference to it. */
export function presentWhole(doc: StateDoc) {
  const { hash, size, value } = doc;
  return { ...present(doc), value: hash === null ? value : { hash, size } };
}
