import { isApiError } from "./errors.ts";
import type { Api, Interest, InterestsCreateParams } from "./generated/types.ts";
import type { CallOptions } from "./operation.ts";

/** An interest to create; `agent_id` is by default the client's own agent. */
export type NewInterest = Omit<InterestsCreateParams, "agent_id"> & { agent_id?: string };

/** Returns the agent's interest with this event type and filter and these settings, created or updated if necessary. */
export async function ensureInterest(
  api: Api,
  interest: NewInterest,
  { signal }: CallOptions = {},
): Promise<Interest> {
  const options = signal ? { signal } : {};
  const agent_id = interest.agent_id ?? (await api.auth.me({}, options)).agent?.id;
  if (!agent_id) throw new TypeError("agent_id is missing: the client is no agent's.");
  try {
    return await api.interests.create({ ...interest, agent_id }, options);
  } catch (error) {
    const id = existingInterest(error);
    if (!id) throw error;
    const { agent_id: _, event_type: __, filter_expression: ___, ...settings } = interest;
    const known = await api.interests.get({ agent_id, id }, options);
    const isSame = (name: string) =>
      JSON.stringify(known[name as keyof Interest]) ===
      JSON.stringify(settings[name as keyof typeof settings]);
    if (Object.keys(settings).every(isSame)) return known;
    return api.interests.update({ agent_id, id, ...settings }, options);
  }
}

/** Returns the id of the interest that kept another one from being created; undefined for any other error. */
export function existingInterest(error: unknown): string | undefined {
  if (!isApiError(error, "business_rule_violation") || error.details.rule !== "interest_conflict")
    return undefined;
  return (error.details.existing_resource_id as string | null) ?? undefined;
}
