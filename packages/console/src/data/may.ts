import { OPERATIONS } from "../../../client/generated/operations.ts";
import type { AuthSessionResult } from "../../../client/index.ts";
import type { Operation } from "../../../client/operation.ts";

type Table = typeof OPERATIONS;
export type Role = AuthSessionResult["user"]["role"];

/** An operation of the client, such as `agents.create`. */
export type Action = { [S in keyof Table]: `${S}.${keyof Table[S] & string}` }[keyof Table];

/** Whether its contract allows an operation to a role. Ownership may still forbid it. */
export function mayCall(role: Role, action: Action): boolean {
  const [service, name] = action.split(".") as [string, string];
  const table: Record<string, Record<string, Operation>> = OPERATIONS;
  const { by, scope, people }: Partial<Operation> = table[service]?.[name] ?? {};
  if (by !== undefined && by !== "user" && by !== "org_admin") return false;
  // A member's session has all scopes but this one.
  const forAdmins = by === "org_admin" || people === "org_admin" || scope === "admin";
  return role === "admin" || !forAdmins;
}
