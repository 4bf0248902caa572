import type { SchemeName } from "../../../connectors/webhook-schemes.ts";
import type { Call } from "../../../lib/access/caller.ts";
import type { Signed } from "./delivery-id.ts";
import { type Entered, readDelivery } from "./intake.ts";

interface Challenge {
  challenge: string;
}

/** Returns the answer to Slack's verification of the address; null for other deliveries. */
export function challengeIn(signed: Signed): Challenge | null {
  if (signed.signature.scheme !== "slack" || signed.body.length > 4096) return null;
  const read = readDelivery(signed);
  if (Array.isArray(read) || "error" in read) return null;
  const { type, challenge } = (read.payload ?? {}) as Record<string, unknown>;
  return type === "url_verification" && typeof challenge === "string" ? { challenge } : null;
}

/**
 * Returns the answer to the sender. Slack shows a person anything but 200 as an error, and a text as an answer; Twilio
 * reads any body as its markup.
 */
export function answerTo(ctx: Call, scheme: SchemeName, result: Challenge | Entered | Entered[]) {
  ctx.meta.$statusCode = scheme === "slack" ? 200 : scheme === "twilio" ? 204 : 202;
  if (scheme === "twilio") return null;
  if ("challenge" in result) return result;
  if (scheme !== "slack") return Array.isArray(result) ? result.map(shown) : shown(result);
  ctx.meta.$responseType = "text/plain; charset=utf-8";
  return "";
}

const shown = (entered: Entered) => {
  const { event_id, status } = entered;
  return { event_id, status, ...("differs" in entered && { differs: entered.differs }) };
};
