import type { ApiError } from "../errors.ts";
import { DEFAULT, type Settings } from "./settings.ts";
import { Failure } from "./usage.ts";

const DOCTOR = "Run sensorium doctor for details.";

function withoutKey({ looked }: Settings): string {
  const places = looked.map((each) => `  ${each}`).join("\n");
  return `No API key: run \`sensorium connect\`, or set SENSORIUM_API_KEY. Looked at:\n${places}`;
}

/** Keeps what a person did not send from whatever listens at the default address. @throws Failure without address and key */
export function requireTold(settings: Settings): void {
  if (!settings.profile.api_key && settings.from.url === DEFAULT)
    throw new Failure(withoutKey(settings), "not_signed_in");
}

/** Explains a refusal to the user of the command, with the remedy. */
export function adviceOn(error: ApiError, settings: Settings): string {
  const { profile, from } = settings;
  const { code, details, message, requestId, status } = error;
  if (status === 401 && !profile.api_key) return withoutKey(settings);
  if (status === 401) return `The key from ${from.key} is refused: ${message}\n${DOCTOR}`;
  if (details.field === "api_key") {
    return `The key from ${from.key} is not an API key: expected ak_live_ and 32 letters and digits.`;
  }
  if (details.field === "team_id") return `${message} Give one with --team ID.`;
  if (code === "unexpected_answer" && details.location) return message;
  if (code === "unexpected_answer")
    return `The server at ${profile.url} is not Sensorium: ${message}\n${DOCTOR}`;
  return `${message} (${requestId ? `${code}, request ${requestId}` : code})`;
}
