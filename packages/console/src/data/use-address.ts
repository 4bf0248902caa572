import { useSearchParams } from "react-router";

type Changes = Record<string, string | null>;

/** Changes search parameters of the address and removes empty ones. The page and its scroll position stay. */
export function useAddress(): [URLSearchParams, (changes: Changes, how?: { replace: boolean }) => void] {
  const [search, setSearch] = useSearchParams();
  const change = (changes: Changes, how?: { replace: boolean }) =>
    setSearch(
      (old) => {
        const next = new URLSearchParams(old);
        for (const [name, value] of Object.entries(changes)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      },
      { ...how, preventScrollReset: true },
    );
  return [search, change];
}
