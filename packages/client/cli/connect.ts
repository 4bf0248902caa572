import { hostname } from "node:os";
import type { Client } from "../client.ts";
import { isApiError, isFinal } from "../errors.ts";
import { pause } from "../support.ts";
import { ask } from "./ask.ts";
import { type Command, type Context, text } from "./command.ts";
import { saveProfile } from "./profiles.ts";
import { Failure, UsageError } from "./usage.ts";

const ASK_EVERY_MS = 2000;
/** A claim is valid for as long as its code was. */
const TIMEOUT_MS = 10 * 60_000;

const NEW_CODE = "The console creates a new one: Agents, the agent, Devices, Create device code.";
const CODE = /^[BCDFGHJKMNPQRSTVWXYZ2-9]{8}$/;

export const connect: Command = {
  takes: "[CODE]",
  open: true,
  does: "Connects this device to an agent with the code shown in the console, after a person approves it there.",
  options: {
    name: { value: "NAME", means: "the device's name as shown for approval; default: sensorium" },
  },
  async run(context) {
    const { settings, client, host, signal, telling } = context;
    const user_code = parseCode(context.words[0] ?? (await ask("CODE: ", context)));
    const client_info = {
      name: text(context, "name") ?? "sensorium",
      version: process.version,
      host: hostname(),
    };
    const { claim_id } = await client.devices.claim({ user_code, client_info }, { signal }).catch((error) => {
      if (!isApiError(error, "not_found")) throw error;
      throw new Failure(
        `No pending code ${user_code}: it is misspelt, already used, or older than ten minutes. ${NEW_CODE}`,
        error,
      );
    });
    telling.note(
      `Waiting for a person to approve ${client_info.name} on ${client_info.host} in the console …`,
    );
    const made = await approved(client, claim_id, signal);
    const { session_id, agent_id, api_key } = made;
    const { name } = settings;
    await saveProfile(host, name, { url: settings.profile.url, api_key, session_id });
    const told = `Connected to the agent ${agent_id}. The key is saved in ${host.profilesFile}, profile ${name}.`;
    context.print({ agent_id, session_id, profile: name }, told);
  },
};

async function approved(client: Client, claim_id: string, signal: AbortSignal) {
  const until = performance.now() + TIMEOUT_MS;
  while (performance.now() < until) {
    try {
      return await client.devices.complete({ claim_id }, { signal });
    } catch (error) {
      if (isApiError(error, "not_found"))
        throw new Failure(`The code was denied or has expired. ${NEW_CODE}`, error);
      // The claim is pending, or the service is briefly unavailable: stopping now would waste the used code.
      if (isFinal(error) && !isApiError(error, "conflict")) throw error;
    }
    await pause(ASK_EVERY_MS, signal);
  }
  throw new Failure(`Nobody approved it in time. ${NEW_CODE}`, "not_approved");
}

/** Normalizes a typed code: lower case and missing hyphen are fine. */
function parseCode(typed: string): string {
  const characters = typed.toUpperCase().replace(/[^A-Z0-9]/g, "");
  if (!CODE.test(characters)) {
    throw new UsageError(`${typed} is not a code: expected one like BCDF-2345, without vowels, L, 0 and 1.`);
  }
  return `${characters.slice(0, 4)}-${characters.slice(4)}`;
}

const HEARTBEAT_MS = 5 * 60_000;

/** Reports a connected device as alive while something runs. Returns a function that stops it. */
export function startHeartbeat({ settings, client }: Context): () => void {
  const { session_id } = settings.profile;
  if (!session_id) return () => {};
  // The status is only informational, so ignore failures.
  const beat = () => void client.sessions.heartbeat({ session_id }, { retries: 0 }).catch(() => {});
  beat();
  const timer = setInterval(beat, HEARTBEAT_MS);
  return () => clearInterval(timer);
}
