/**
 * Returns what an error says about a redirect, which nothing here follows: requests carry credentials or tenants' data,
 * meant for one address. Empty for a response that names no target.
 *
 * @param location the response's header
 */
export function redirectNote(location: string | null | undefined, url: string): string {
  if (!location || !URL.canParse(location, url)) return "";
  // Without a query, which may contain a secret.
  const { origin, pathname } = new URL(location, url);
  return `, a redirect to ${origin}${pathname}: use the final address`;
}
