import { text as readAll } from "node:stream/consumers";
import { createClient } from "../client.ts";
import { isApiError } from "../errors.ts";
import type { AuthLoginParams } from "../generated/types.ts";
import { ask } from "./ask.ts";
import { type Command, type Context, given, text } from "./command.ts";
import { saveProfile } from "./profiles.ts";
import { UsageError } from "./usage.ts";

export const login: Command = {
  takes: "[EMAIL]",
  does: "Signs in a person with e-mail and password, for commands that people run. Ends after 12 hours without renewal.",
  options: {
    tenant: { value: "SLUG", means: "the organisation, if the e-mail has accounts in several" },
    "password-stdin": { means: "read the password from standard input" },
    code: { value: "CODE", means: "the code of the authenticator app; asked for when it is needed" },
  },
  examples: ["login ada@example.com", "login ada@example.com --password-stdin < password.txt"],
  open: true,
  async run(context) {
    const { settings, host } = context;
    const email = context.words[0] ?? (await ask("E-mail: ", context));
    const password = await readPassword(context);
    const { tenant } = given(context, "tenant");
    const credentials = { email, password, ...(tenant && { tenant_slug: tenant }) };
    const { access_token, expires_at, user } = await signIn(context, credentials);
    const { url } = settings.profile;
    await saveProfile(host, settings.name, { url, person: { email, token: access_token, expires_at } });
    const { display_name, role } = user;
    context.print(
      { profile: settings.name, email, role, expires_at },
      `Signed in as ${display_name} (${role}). Kept in ${host.profilesFile}, profile ${settings.name}.`,
    );
  },
};

/** Signs in; if the account has a second factor, with its code. */
async function signIn(context: Context, credentials: AuthLoginParams) {
  const { settings, signal } = context;
  const { auth } = createClient({ url: settings.profile.url, anonymous: true });
  const typed = text(context, "code");
  const withCode = (code: string | undefined) => ({ ...credentials, ...(code && { code }) });
  try {
    return await auth.login(withCode(typed), { signal });
  } catch (error) {
    if (typed || !(isApiError(error) && String(error.code) === "totp_required")) throw error;
    if (!context.host.stdin.isTTY)
      throw new UsageError(
        "The account has a second factor: give the code of its authenticator app with --code.",
      );
    return await auth.login(withCode(await ask("Code of your authenticator app: ", context)), { signal });
  }
}

async function readPassword(context: Context): Promise<string> {
  const { stdin } = context.host;
  if (context.options["password-stdin"]) return (await readAll(stdin)).replace(/\r?\n$/, "");
  if (stdin.isTTY) return ask("Password: ", context, { hidden: true });
  throw new UsageError("There is no terminal to ask for the password: give it with --password-stdin.");
}
