import { settle } from "./settle.ts";

/** What says that something of it was late. */
interface Bounded {
  degraded?: boolean;
}

/**
 * Asks until the answer is whole. What the product does within a time of its own (the vector of a query, the memories
 * that a delivery carries) a busy machine may not do in time, and what is found without it is less.
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
      // What fails is not asked again.
      return (await asked.then(isWhole, () => true)) && [asked];
    },
    { what: "an answer that is not degraded" },
  );
  return answer;
}
