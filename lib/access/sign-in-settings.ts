import { ConfigError } from "../settings.ts";

interface SignInSettings {
  OIDC_ISSUER: string | null;
  OIDC_CLIENT_ID: string | null;
  OIDC_SCOPES: readonly string[];
  OIDC_ROLES: readonly string[];
  PASSWORD_SIGN_IN: boolean;
}

const ROLE_ENTRY = /^.+=(admin|member)$/;
const LOOPBACK_HOST = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** @throws ConfigError if nobody, or anybody, could sign in */
export function checkSignIn(config: SignInSettings): void {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_SCOPES, OIDC_ROLES, PASSWORD_SIGN_IN } = config;
  if (!OIDC_ISSUER) {
    if (PASSWORD_SIGN_IN) return;
    throw new ConfigError("PASSWORD_SIGN_IN is false, but OIDC_ISSUER is not set: nobody could sign in.");
  }
  const { protocol, hostname } = new URL(OIDC_ISSUER);
  if (protocol === "http:" && !LOOPBACK_HOST.test(hostname))
    throw new ConfigError(
      `OIDC_ISSUER is ${JSON.stringify(OIDC_ISSUER)}: expected https://, or http:// on loopback.`,
    );
  if (!OIDC_CLIENT_ID)
    throw new ConfigError("OIDC_ISSUER is set, but OIDC_CLIENT_ID is not: register a client there.");
  if (!OIDC_SCOPES.includes("openid")) throw new ConfigError("OIDC_SCOPES lacks openid: add it.");
  const wrong = OIDC_ROLES.find((entry) => !ROLE_ENTRY.test(entry));
  if (wrong !== undefined)
    throw new ConfigError(
      `OIDC_ROLES contains ${JSON.stringify(wrong)}: expected VALUE=admin or VALUE=member. A comma inside VALUE is written as \\, (CN=Admins\\,DC=acme=admin).`,
    );
  if (OIDC_ROLES.length === 0)
    throw new ConfigError(
      "OIDC_ISSUER is set, but OIDC_ROLES is not: nobody would be let in. Example: staff=member.",
    );
}
