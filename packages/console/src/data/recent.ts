import { store, stored } from "./stored.ts";

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

interface Kept {
  user_id: string;
  places: RecentPlace[];
}

/** Returns the places that the person visited last, latest first. */
export function recentPlaces(): RecentPlace[] {
  const kept: Kept | null = JSON.parse(stored(KEY) ?? "null");
  return kept?.user_id === user_id ? kept.places : [];
}

export function visited(place: RecentPlace): void {
  const others = recentPlaces().filter(({ to }) => to !== place.to);
  store(KEY, JSON.stringify({ user_id, places: [place, ...others].slice(0, MAX_PLACES) }));
}

/** Titles can be confidential: they are forgotten when the person signs out. */
export const forgetRecent = () => store(KEY, null);
