import type { KeysCreateResult } from "../../../../client/index.ts";
import { CheckField } from "../../ui/field.tsx";

export type Scope = KeysCreateResult["scopes"][number];

export const SCOPES: { scope: Scope; means: string }[] = [
  { scope: "send", means: "publish events" },
  { scope: "receive", means: "receive deliveries" },
  { scope: "memory:read", means: "search and read memories" },
  { scope: "memory:write", means: "write memories, work on runs" },
  { scope: "channel:read", means: "read channels" },
  { scope: "channel:write", means: "change channels" },
  { scope: "admin", means: "everything" },
];

interface Props {
  /** The scopes to choose from. */
  of: readonly Scope[];
  value: readonly Scope[];
  onChange(scopes: Scope[]): void;
}

/** Chooses scopes. */
export function ScopeChoice({ of, value, onChange }: Props) {
  const toggle = (scope: Scope, on: boolean) =>
    onChange(on ? [...value, scope] : value.filter((each) => each !== scope));
  return (
    <fieldset className="checks">
      <legend>Scopes</legend>
      {SCOPES.filter(({ scope }) => of.includes(scope)).map(({ scope, means }) => (
        <CheckField
          key={scope}
          label={scope}
          hint={means}
          checked={value.includes(scope)}
          onChange={(on) => toggle(scope, on)}
        />
      ))}
    </fieldset>
  );
}
