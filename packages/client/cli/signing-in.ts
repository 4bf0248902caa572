import { parseOrigin } from "../access.ts";
import type { Authorization } from "../authorize.ts";
import { byKey, byToken } from "../authorize.ts";
import type { Command, Identity } from "./command.ts";
import type { Host } from "./environment.ts";
import { type SignIn, saveProfile } from "./profiles.ts";
import type { Settings } from "./settings.ts";
import { Failure, UsageError } from "./usage.ts";

const BOTH: readonly Identity[] = ["agent", "person"];

/** Returns who a command's calls are made as: the one asked for, else the preferred one that there is. */
export function identityFor(command: Command, asked: string | undefined, { profile }: Settings): Identity {
  const allowed = command.as ?? BOTH;
  if (asked !== undefined) {
    const chosen = BOTH.find((each) => each === asked);
    if (!chosen) throw new UsageError(`--as is ${asked}: expected ${BOTH.join(", ")}.`);
    if (!allowed.includes(chosen))
      throw new UsageError(
        `--as is ${asked}: only ${allowed[0] === "agent" ? "agents" : "people"} can do this.`,
      );
    return chosen;
  }
  if (profile.api_key && !profile.person && allowed.length === 1 && allowed[0] === "person")
    throw new Failure("This is for people, not for agents: run `sensorium login`.", "not_signed_in");
  const has = { agent: profile.api_key, person: profile.person };
  return allowed.find((each) => has[each]) ?? (allowed[0] as Identity);
}

/** Returns how calls are authenticated; nothing if there is no key. @throws Failure if nobody is signed in */
export function makeAuthorization(
  identity: Identity,
  settings: Settings,
  host: Host,
): Authorization | undefined {
  const { api_key, person } = settings.profile;
  if (identity === "agent") return api_key ? byKey(api_key) : undefined;
  if (!person) {
    const why = `Nobody is signed in to ${settings.profile.url} in the profile ${settings.name}`;
    throw new Failure(`${why}: run \`sensorium login\`.`, "not_signed_in");
  }
  if (Date.parse(person.expires_at) <= Date.now())
    throw new Failure(`The sign-in of ${person.email} has ended: run \`sensorium login\`.`, "not_signed_in");
  return byToken(() => freshToken(person, settings, host));
}

const RENEW_MS = 30 * 60_000;

/** Returns the person's token, renewed when half of its hour is over: the service allows it for 12 hours. */
async function freshToken(person: SignIn, settings: Settings, host: Host): Promise<string> {
  if (Date.parse(person.expires_at) - Date.now() > RENEW_MS) return person.token;
  const renewed = await renew(person, settings.profile.url).catch(() => undefined);
  // The old one still works for now.
  if (!renewed) return person.token;
  Object.assign(person, renewed);
  await saveProfile(host, settings.name, { url: settings.profile.url, person });
  return person.token;
}

/** A renewed token comes as the session cookie that a browser would keep. */
async function renew({ token }: SignIn, url: string): Promise<Omit<SignIn, "email"> | undefined> {
  const response = await fetch(`${parseOrigin(url)}/v1/auth/session/renew`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    // The token is for this address only.
    redirect: "manual",
    signal: AbortSignal.timeout(10_000),
  });
  const [, renewed] = /sensorium_session=([^;]+)/.exec(response.headers.get("set-cookie") ?? "") ?? [];
  const { expires_at } = (await response.json()) as { expires_at?: string };
  return response.ok && renewed && expires_at ? { token: renewed, expires_at } : undefined;
}
