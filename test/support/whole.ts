import { settle } from "./settle.ts";

/** An answer that may be incomplete because something was late. */
type Bounded = { degraded?: boolean };

/**
 * Repeats a request until the answer is complete. On a busy machine the service may miss its own deadlines (the vector
 * of a query, the memories that a delivery carries), and returns less without them.
 *
 * @param partOf what of the answer says `degraded`, where that is not the answer itself
 */
export async function whole<T>(
  ask: () => Promise<T>,
  partOf: (answer: T) => Bounded | null | undefined = (answer) => answer as Bounded,
): Promise<T> {
  const isWhole = (answer: T) => partOf(answer)?.degraded !== true;
  const [answer] = await settle(
    async () => {
      const asked = ask();
      // Failed requests are not repeated.
      return (await asked.then(isWhole, () => true)) && [asked];
    },
    { what: "an answer that is not degraded" },
  );
  return answer;
}
