import { createClient } from "../client.ts";
import { isCredentialRefused } from "../errors.ts";
import { type Command, type Context, word } from "./command.ts";
import { didYouMean } from "./nearest.ts";
import { changeProfiles, readProfiles } from "./profiles.ts";
import { Failure } from "./usage.ts";

const list: Command = {
  takes: "",
  does: "Lists the saved profiles, with their address and who they are.",
  open: true,
  async run(context) {
    const profiles = Object.entries(await readProfiles(context.host));
    const rows = profiles.map(([name, { url, api_key, person, current }]) => ({
      name,
      url,
      current: current === true || name === context.settings.name,
      agent: api_key ? `${api_key.slice(0, 12)}…` : null,
      person: person?.email ?? null,
      signed_in: person ? Date.parse(person.expires_at) > Date.now() : null,
    }));
    context.table(
      rows,
      rows,
      [
        ["", ({ current }) => (current ? "*" : " ")],
        ["PROFILE", ({ name }) => name],
        ["AGENT", ({ agent }) => agent],
        ["PERSON", ({ person, signed_in }) => person && (signed_in ? person : `${person} (ended)`)],
        ["ADDRESS", ({ url }) => url],
      ],
      "No profiles: `sensorium connect` and `sensorium login` make them.",
    );
  },
};

const use: Command = {
  takes: "NAME",
  does: "Makes a profile the one that is used without --profile.",
  examples: ["profile use staging"],
  open: true,
  async run(context) {
    const name = word(context, 0, "NAME");
    await changeProfiles(context.host, (profiles) => {
      if (!Object.hasOwn(profiles, name)) throw unknown(name, Object.keys(profiles));
      for (const [each, profile] of Object.entries(profiles)) {
        delete profile.current;
        if (each === name) profile.current = true;
      }
    });
    context.print({ current: name }, `Using the profile ${name}.`);
  },
};

const logout: Command = {
  takes: "[NAME]",
  does: "Ends the person's sign-in on the service, and removes it from the profile. An agent's key stays.",
  options: { all: { means: "remove the whole profile, the agent's key included; the key stays valid" } },
  open: true,
  async run(context) {
    const name = context.words[0] ?? context.settings.name;
    const profiles = await readProfiles(context.host);
    const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    if (!profile) throw unknown(name, Object.keys(profiles));
    const { person } = profile;
    if (!person && !context.options.all)
      throw new Failure(`Nobody is signed in in the profile ${name}.`, "not_signed_in");
    if (person) await end(context, profile.url, person.token);
    await changeProfiles(context.host, (kept) => {
      const { person: _, ...rest } = kept[name] ?? profile;
      if (context.options.all || !rest.api_key) delete kept[name];
      else kept[name] = rest;
    });
    const told = person ? `${person.email} is signed out.` : `The profile ${name} is removed.`;
    context.print({ profile: name, signed_out: person?.email ?? null }, told);
  },
};

/** A session that the service no longer knows has ended already. */
async function end({ signal }: Context, url: string, token: string): Promise<void> {
  await createClient({ url, token })
    .auth.logout({}, { signal })
    .catch((error) => {
      if (!isCredentialRefused(error)) throw error;
    });
}

function unknown(name: string, names: string[]): Failure {
  return new Failure(`No profile ${name}.${didYouMean(name, names)}`, "unknown_profile");
}

export const PROFILE = { "profile list": list, "profile use": use, "profile logout": logout };
