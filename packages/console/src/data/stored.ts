/** Text that this browser keeps for the person. Where it must not, nothing is kept. */
export function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores a text, or removes it if null. */
export function store(key: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // Forbidden or full.
  }
}

interface RecentPlace {
  to: string;
  title: string;
}

const KEY = "sensorium.recent";
const MAX_PLACES = 8;

/** The signed-in person. */
let user_id = "";

export function recentFor(id: string): void {
  user_id = id;
}

/** Returns the places that the person visited last, latest first. */
export function recentPlaces(): RecentPlace[] {
  const kept: { user_id: string; places: RecentPlace[] } | null = JSON.parse(stored(KEY) ?? "null");
  return kept?.user_id === user_id ? kept.places : [];
}

export function visited(place: RecentPlace): void {
  const others = recentPlaces().filter(({ to }) => to !== place.to);
  store(KEY, JSON.stringify({ user_id, places: [place, ...others].slice(0, MAX_PLACES) }));
}

/** Titles can be confidential: they are forgotten when the person signs out. */
export const forgetRecent = () => store(KEY, null);
