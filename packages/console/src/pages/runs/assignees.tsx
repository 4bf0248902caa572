import { findPeople } from "../../data/find.ts";
import { useSession } from "../../shell/session.tsx";
import { type Choice, Combo } from "../../ui/combo.tsx";

/** Assignees by step key. */
export type Assigned = Record<string, Choice | null>;

interface Props {
  steps: readonly { step_key: string; title: string }[];
  assigned: Assigned;
  onChange(assigned: Assigned): void;
}

/** Returns a search for assignees. Members may not list people, but may assign a step to themselves. */
export function useFindAssignee(): typeof findPeople {
  const { may, user } = useSession();
  const self = { id: user.id, label: user.display_name, detail: "you" };
  return may("users.list") ? findPeople : async () => [self];
}

/** Assigns steps to people; the assignee or one of their agents does the step. */
export function Assignees({ steps, assigned, onChange }: Props) {
  const find = useFindAssignee();
  return (
    <details className="more-fields">
      <summary>Assignees</summary>
      <div className="stack tight">
        {steps.map(({ step_key, title }) => (
          <Combo
            key={step_key}
            label={title}
            value={assigned[step_key] ?? null}
            onChange={(person) => onChange({ ...assigned, [step_key]: person })}
            find={find}
            none="Anyone"
          />
        ))}
      </div>
    </details>
  );
}
