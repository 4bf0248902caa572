import { api } from "./api.ts";
import { useLoad } from "./use-load.ts";

/** What people and agents are called, by their ids; whoever may not list them sees the ids. */
export function useNames(): (id: string) => string {
  const names = useLoad(async (signal) => {
    const [users, agents] = await Promise.all([
      api.users.list({ limit: 200 }, { signal }).then(
        ({ users }) => users,
        () => [],
      ),
      api.agents.list({ limit: 200 }, { signal }).then(
        ({ agents }) => agents,
        () => [],
      ),
    ]);
    return new Map([
      ...users.map(({ id, display_name }) => [id, display_name] as const),
      ...agents.map(({ id, name }) => [id, name] as const),
    ]);
  }, []);
  return (id) => names.data?.get(id) ?? id;
}
