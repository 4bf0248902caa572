import type { ApiError } from "../errors.ts";
import type { Settings } from "./settings.ts";

const DOCTOR = "Run sensorium doctor for details.";

/** Explains a refusal to the user of the command, with the remedy. */
export function adviceOn(error: ApiError, { profile, from, looked }: Settings): string {
  const { code, details, message, requestId, status } = error;
  if (status === 401 && !profile.api_key) {
    return `No API key: run \`sensorium connect\`, or set SENSORIUM_API_KEY. Looked at:\n${looked.map((each) => `  ${each}`).join("\n")}`;
  }
  if (status === 401) return `The key from ${from.key} is refused: ${message}\n${DOCTOR}`;
  if (details.field === "api_key") {
    return `The key from ${from.key} is not an API key: expected ak_live_ and 32 letters and digits.`;
  }
  if (details.field === "team_id") return `${message} Give one with --team ID.`;
  if (code === "unexpected_answer")
    return `The server at ${profile.url} is not Sensorium: ${message}\n${DOCTOR}`;
  return `${message} (${requestId ? `${code}, request ${requestId}` : code})`;
}
