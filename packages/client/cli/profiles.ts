import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Host } from "./environment.ts";
import { Failure } from "./usage.ts";

/** An installation, and who one is in it: an agent, a person, or both. */
export interface Profile {
  url: string;
  /** The agent's. */
  api_key?: string;
  /** The connected device, if `connect` created the key. */
  session_id?: string;
  /** The person who signed in. */
  person?: SignIn;
  /** The profile that is used without `--profile`. */
  current?: true;
}

/** A person's token; it ends by itself, and `profile logout` ends it at once. */
export interface SignIn {
  email: string;
  token: string;
  expires_at: string;
}

type Profiles = Record<string, Profile>;

export async function readProfiles({ profilesFile }: Host): Promise<Profiles> {
  return (await readJson<Profiles>(profilesFile)) ?? {};
}

/** Changes the profiles in the file, which only its owner may read. */
export async function changeProfiles(host: Host, change: (profiles: Profiles) => void): Promise<void> {
  const profiles = await readProfiles(host);
  change(profiles);
  await writeJson(host.profilesFile, profiles);
}

/** Writes a file that only its owner may read. */
export async function writeJson(file: string, value: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // Replaced at once: another call may read it meanwhile.
  const written = `${file}.${process.pid}`;
  await writeFile(written, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await chmod(written, 0o600);
  await rename(written, file);
}

/** Saves what is given in a profile, and keeps its rest if that is of the same address. */
export function saveProfile(host: Host, name: string, profile: Profile): Promise<void> {
  return changeProfiles(host, (profiles) => {
    const known = profiles[name];
    profiles[name] = {
      ...(known?.url === profile.url ? known : known?.current && { current: true }),
      ...profile,
    };
  });
}

export async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Failure(`${file} cannot be read: ${(error as Error).message}`, "unreadable_file");
  }
}
