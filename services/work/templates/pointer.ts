/** The fields of a step's pointer that may name a local object. */
interface Step {
  reference_pointer: { uri?: string | null; native_id?: string | null } | null;
}

const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Returns the local ids in steps' reference pointers, as the native id or within the address. */
export function pointedIds(steps: readonly Step[]): string[] {
  const named = steps.flatMap(({ reference_pointer }) => {
    const { uri, native_id } = reference_pointer ?? {};
    return `${native_id ?? ""} ${uri ?? ""}`.toLowerCase().match(UUIDS) ?? [];
  });
  return [...new Set(named)];
}
