/** What a step points to, as far as it may name something of ours. */
interface Step {
  reference_pointer: { uri?: string | null; native_id?: string | null } | null;
}

const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** The ids of ours that steps' reference pointers name, as the native id or within the address. */
export function pointedIds(steps: readonly Step[]): string[] {
  const named = steps.flatMap(({ reference_pointer }) => {
    const { uri, native_id } = reference_pointer ?? {};
    return `${native_id ?? ""} ${uri ?? ""}`.toLowerCase().match(UUIDS) ?? [];
  });
  return [...new Set(named)];
}
