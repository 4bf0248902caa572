import { api } from "../data/api.ts";

/** Begins a sign-in by the identity provider; the page can be opened by a link from elsewhere too. */
const START = "/sign-in/start";
/** The provider sends the browser back here. */
const CALLBACK = "/sign-in/callback";
const KEPT_PATH = "sensorium.sign-in.path";

/** Returns the address that begins a sign-in by the identity provider and ends at a path of the console. */
export const startAddress = (path: string) => `${START}?to=${encodeURIComponent(path)}`;

let journey: Promise<never> | null | undefined;

/**
 * Continues a sign-in by the identity provider if the page's address belongs to one: then the browser leaves the page,
 * signed in or for the provider.
 *
 * @returns null for any other address; otherwise a promise that ends only with the error that ends the sign-in
 */
export function signInJourney(): Promise<never> | null {
  // Once: a code of the provider counts once.
  journey ??= stepAt(location.pathname);
  return journey;
}

function stepAt(path: string): Promise<never> | null {
  if (path === START) return leave();
  return path === CALLBACK ? arrive() : null;
}

async function leave(): Promise<never> {
  sessionStorage.setItem(KEPT_PATH, ownPath(new URLSearchParams(location.search).get("to")));
  return goTo((await api.auth.beginOidc()).url);
}

async function arrive(): Promise<never> {
  const query = location.search.slice(1);
  // Not to be seen, kept in the history or sent again.
  history.replaceState(null, "", CALLBACK);
  await api.auth.finishOidc({ query });
  return goTo(ownPath(sessionStorage.getItem(KEPT_PATH)));
}

function goTo(address: string): Promise<never> {
  location.replace(address);
  return new Promise(() => {});
}

/** Only paths of the console: a link from elsewhere must not lead to another site. */
function ownPath(path: string | null): string {
  const { origin, pathname, search } = new URL(path ?? "/", location.origin);
  const isOwn = origin === location.origin && !pathname.startsWith("/sign-in");
  return isOwn ? pathname + search : "/";
}
