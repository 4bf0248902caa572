/** Returns a time as a field of type `datetime-local` shows it: in the browser's time zone, to the second. */
export function localTime(at: string): string {
  const date = new Date(at);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Returns the time of such a field as ISO 8601. */
export function timeOf(local: string): string {
  return new Date(local).toISOString();
}
