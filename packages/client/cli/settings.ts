import { parseOrigin as serviceAt } from "../access.ts";
import type { Host } from "./environment.ts";
import { type Profile, readProfiles } from "./profiles.ts";
import { isLoopback, readServerFile, type ServerFile } from "./server-file.ts";
import { Failure, UsageError } from "./usage.ts";

export interface Settings {
  /** The profile's name, whether it exists or not. */
  name: string;
  /** Applied: of the saved profile only the part for this address. */
  profile: Profile;
  /** Descriptions of where the address and the key come from. */
  from: { url: string; key: string };
  /** Where a key was looked for, and what was there. */
  looked: string[];
  /** Notes for a person before the first call: the folder decides, or sources disagree. */
  notes: string[];
}

/** The source of the address where nobody named one. */
export const DEFAULT = "the default";
const DEFAULT_URL = "http://127.0.0.1:3000";

interface Typed {
  url?: string;
  profile?: string;
  /** The profile may be missing. */
  mayBeNew?: boolean;
  /** The folder has no say. */
  unattended?: boolean;
}

/**
 * Reads the address and the key: what was given for this call first, then what is saved, then what a server left in this
 * folder. A key stored for one address is never sent to another.
 */
export async function readSettings(host: Host, typed: Typed): Promise<Settings> {
  const { given, profilesFile, serverFile } = host;
  const { name, saved } = await savedProfile(host, typed);
  const { server, why } = await serverHere(host, typed);
  const ofProfile = `the profile ${name}`;
  const urls: Candidate[] = [
    [typed.url, "--url"],
    [typed.profile && saved?.url, ofProfile],
    [given.url, "SENSORIUM_URL"],
    [given.profile && saved?.url, ofProfile],
    [given.dataDir && server?.base_url, serverFile],
    [saved?.url, ofProfile],
    // A folder provides the address for its own key only: it must not redirect another key.
    [given.apiKey ? undefined : server?.base_url, serverFile],
    [DEFAULT_URL, DEFAULT],
  ];
  const [url, urlFrom] = first(urls) as [string, string];
  const isFor = (kept: string | undefined) => kept !== undefined && toOrigin(kept) === toOrigin(url);
  const own = isFor(saved?.url) ? saved : undefined;
  const ownServer = isFor(server?.base_url) ? server : undefined;
  const [api_key, keyFrom] = first([
    [typed.profile && own?.api_key, ofProfile],
    [given.apiKey, "SENSORIUM_API_KEY"],
    [given.profile && own?.api_key, ofProfile],
    [given.dataDir && ownServer?.agent.api_key, serverFile],
    [own?.api_key, ofProfile],
    [ownServer?.agent.api_key, serverFile],
  ]);
  const session_id = keyFrom === ofProfile ? own?.session_id : undefined;
  const profile = {
    url,
    ...(api_key && { api_key }),
    ...(session_id && { session_id }),
    ...(own?.person && { person: own.person }),
  };
  const inProfile = own ? "without a key" : saved ? `for ${saved.url}` : "not there";
  const looked = [
    "SENSORIUM_API_KEY: not set",
    `profile ${name} in ${profilesFile}: ${inProfile}`,
    `${serverFile}: ${why ?? `for ${server?.base_url}`}`,
  ];
  const notes = [];
  if (!given.dataDir && [urlFrom, keyFrom].includes(serverFile))
    notes.push(`Using the server of this folder: ${url} and the key in ${serverFile}.`);
  const others = new Map(
    urls.filter(([other]) => other && !isFor(other)).map(([other, from]) => [from, other]),
  );
  others.delete(DEFAULT);
  // The default is used only where nothing else is said, and what was typed needs no repetition.
  const isTyped = Boolean(typed.url || (typed.profile && saved?.url));
  const unread = given.dataDir && why && ![given.url, given.profile].some(Boolean);
  if (!isTyped && (others.size > 0 || unread)) {
    const said = Array.from(others, ([from, other]) => `${from} says ${other}`);
    if (unread) said.push(`${serverFile}: ${why}`);
    notes.push(`Using ${url} (from ${urlFrom}); ${said.join("; ")}.`);
  }
  return { name, profile, from: { url: urlFrom, key: keyFrom }, looked, notes };
}

/** Returns the server whose folder this is; only one on this machine, whatever its file says. */
async function serverHere(
  { serverFile, pathOf }: Host,
  { unattended }: Typed,
): Promise<{ server?: ServerFile; why?: string }> {
  if (unattended) return { why: "never used by this command" };
  const found = await readServerFile(pathOf(serverFile), serverFile);
  if (!found.server || isLoopback(found.server.base_url)) return found;
  return { why: `not used, as ${found.server.base_url} is not on this machine: set SENSORIUM_URL` };
}

/** @throws Failure if a profile that was asked for is missing */
async function savedProfile(host: Host, { profile, mayBeNew }: Typed) {
  const profiles = await readProfiles(host);
  const named = profile ?? host.given.profile;
  const current = Object.keys(profiles).find((each) => profiles[each]?.current);
  const name = named ?? current ?? "default";
  const saved = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (named && !saved && !mayBeNew) {
    const remedy = `run \`sensorium connect --profile ${name}\` or \`sensorium login --profile ${name}\``;
    throw new Failure(`No profile ${name} in ${host.profilesFile}: ${remedy}.`, "unknown_profile");
  }
  return { name, saved };
}

/** @throws UsageError */
function toOrigin(url: string): string {
  try {
    return new URL(serviceAt(url)).origin;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** A value, if it is there, and its source. */
type Candidate = [string | undefined, string];

function first(candidates: Candidate[]): Candidate {
  return candidates.find(([value]) => value) ?? [undefined, "nowhere"];
}
