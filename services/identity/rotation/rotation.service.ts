import { conflict, ruleBroken } from "../../../lib/contract/faults.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { observeGauge } from "../../../observability/metrics.ts";
import { action, type CallOf, type ServiceFactory } from "../../runtime.ts";
import { type SigningKeyState, stillPublished } from "../auth/signing-keys.ts";
import * as contract from "./rotation.contract.ts";
import { SecretKeys } from "./secret-keys.ts";

const LOOK_MS = 60_000;
const IN_SETTINGS =
  "SECRET_KEY is a setting: set it to a new key on every node, with the former one in SECRET_KEY_FALLBACKS (docs/runbooks/key-leaked.md).";

/** @throws Fault conflict before anything is replaced: a new signing key waits until it signs */
async function requireNonePublished(ctx: CallOf<typeof contract.startRotation>): Promise<void> {
  const next = (await ctx.call<SigningKeyState[]>("auth.signing_keys")).find(
    ({ state }) => state === "published",
  );
  if (next) throw stillPublished(next.signs_at);
}

/** Replaces the keys of the installation. */
export const rotationService: ServiceFactory = (runtime) => {
  const { secrets } = runtime;
  const keys = new SecretKeys(runtime);
  const loop = new SharedLoop("former keys", (broker) => keys.reseal(broker), LOOK_MS);

  async function read(ctx: CallOf<typeof contract.readRotation>) {
    const [active, ...fallbacks] = secrets.keyIds;
    const in_use = await keys.fallbacksInUse();
    const left = in_use.length > 0 ? await keys.rows.count() : {};
    const kept_in = secrets.isOnFile ? "file" : "settings";
    const secret_key = { active, kept_in, fallbacks, in_use, left, nodes: keys.ofNodes(ctx.broker) };
    return { secret_key, signing_keys: await ctx.call<SigningKeyState[]>("auth.signing_keys") };
  }

  return {
    name: "rotation",
    mixins: [loop.mixin],
    created() {
      // Only the node that encrypts them knows of any.
      observeGauge("secrets_to_encrypt", async () => keys.left);
    },
    actions: {
      read: action(contract.readRotation, (ctx) => read(ctx)),

      start: action(contract.startRotation, async (ctx) => {
        const { keys: kinds = secrets.isOnFile ? ["secret", "signing"] : ["signing"], at_once = false } =
          ctx.params;
        if (kinds.includes("secret") && !secrets.isOnFile)
          throw ruleBroken("secret_key_setting", IN_SETTINGS);
        if (kinds.includes("signing") && !at_once) await requireNonePublished(ctx);
        if (kinds.includes("secret")) await keys.replace();
        // Encrypted with the new key from the beginning.
        if (kinds.includes("signing")) await ctx.call("auth.rotate_signing_key", { at_once });
        loop.nudge();
        return read(ctx);
      }),

      finish: action(contract.finishRotation, async (ctx) => {
        if (!secrets.isOnFile) throw ruleBroken("secret_key_setting", IN_SETTINGS);
        // Those of now: another key may be replaced meanwhile.
        const [, ...fallbacks] = secrets.keyIds;
        const in_use = await keys.fallbacksInUse();
        if (in_use.length > 0)
          throw conflict(
            `Stored secrets may still be encrypted with the key ${in_use.join(", ")}. Retry when GET /v1/rotation shows none in use.`,
          );
        await secrets.dropFallbacks(fallbacks);
        return read(ctx);
      }),
    },
  };
};
