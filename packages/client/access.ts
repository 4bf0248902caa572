/** The address of a service and the credential for it, as a program gave them. */
interface Said {
  url?: string;
  apiKey?: string | undefined;
  token?: unknown;
  authorize?: unknown;
  anonymous?: boolean;
}

const DEFAULT_URL = "http://127.0.0.1:3000";

/** A key for one address, or why there is none. */
type Place = { name: string } & ({ url: string; apiKey: string; why?: never } | { url?: never; why: string });

/**
 * Completes what a program said with the environment, then with the profile that `sensorium connect` saved. A key for one
 * address is never sent to another.
 *
 * @throws TypeError if there is no key and nothing else to authenticate with
 */
export function findAccess<T extends Said>(said: T): T & { url: string } {
  const { process } = globalThis as { process?: Process };
  const env = process?.env ?? {};
  // An address that is undefined is a mistake in the program: it must not go to the default.
  const url = "url" in said ? String(said.url) : env.SENSORIUM_URL || undefined;
  const origin = url === undefined ? undefined : parseOrigin(url);
  if (said.apiKey || said.token || said.authorize || said.anonymous)
    return { ...said, url: url ?? DEFAULT_URL };
  const looked: string[] = ["apiKey: not given"];
  for (const look of [ofEnvironment, ofProfile]) {
    const place = look(env, process);
    if (place.url && (!origin || origin === parseOrigin(place.url)))
      return { ...said, url: url ?? place.url, apiKey: place.apiKey };
    looked.push(`${place.name}: ${place.why ?? `for ${place.url}`}`);
  }
  const places = looked.map((each) => `  ${each}`).join("\n");
  throw new TypeError(
    `No API key: run \`sensorium connect\`, or set SENSORIUM_API_KEY. Looked at:\n${places}\n` +
      "For operations that need none, pass anonymous: true.",
  );
}

/** Browsers have none. */
interface Process {
  env: Record<string, string | undefined>;
  /** Since Node 20.16. */
  getBuiltinModule?(name: "node:fs"): { readFileSync(path: string, encoding: "utf8"): string };
}

function ofEnvironment({ SENSORIUM_URL, SENSORIUM_API_KEY }: Process["env"]): Place {
  const name = "SENSORIUM_API_KEY";
  return SENSORIUM_API_KEY
    ? { name, url: SENSORIUM_URL || DEFAULT_URL, apiKey: SENSORIUM_API_KEY }
    : { name, why: "not set" };
}

type Profiles = Record<string, { url: string; api_key?: string; current?: true }>;

/** The same file and profile as the command line's (cli/environment.ts). */
function ofProfile(
  { XDG_CONFIG_HOME, HOME, SENSORIUM_PROFILE }: Process["env"],
  process: Process | undefined,
): Place {
  const folder = XDG_CONFIG_HOME?.startsWith("/") ? XDG_CONFIG_HOME : `${HOME}/.config`;
  const file = `${folder}/sensorium/profiles.json`;
  let name = SENSORIUM_PROFILE || "default";
  const at = () => `profile ${name} in ${file}`;
  try {
    const text = process?.getBuiltinModule?.("node:fs").readFileSync(file, "utf8") ?? "{}";
    const profiles: Profiles = JSON.parse(text);
    name = SENSORIUM_PROFILE || Object.keys(profiles).find((each) => profiles[each]?.current) || name;
    const saved = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    if (!saved?.api_key) return { name: at(), why: saved ? "without a key" : "not there" };
    return { name: at(), url: saved.url, apiKey: saved.api_key };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { name: at(), why: code === "ENOENT" ? "not there" : `cannot be read: ${message}` };
  }
}

/** Returns the prefix of operation paths; understands the addresses of the API and of MCP too. @throws TypeError */
export function parseOrigin(url: string): string {
  const given = String(url).trim();
  if (!/^https?:\/\//i.test(given) || !URL.canParse(given))
    throw new TypeError(`"${url}" is not a URL: expected one like https://sensorium.example.com.`);
  const [address = ""] = given.split(/[?#]/, 1);
  return address.replace(/\/+$/, "").replace(/\/+(?:v1|mcp)$/i, "");
}
