import { findPeople } from "../../data/find.ts";
import { useSession } from "../../shell/session.tsx";
import { type Choice, Combo } from "../../ui/combo.tsx";

/** People by the key of the step that they are to do. */
export type Assigned = Record<string, Choice | null>;

interface Props {
  steps: readonly { step_key: string; title: string }[];
  assigned: Assigned;
  onChange(assigned: Assigned): void;
}

/** Finds whom a step can be given to. Members may not list the people: they can take a step on themselves. */
export function useFindAssignee(): typeof findPeople {
  const { may, user } = useSession();
  const self = { id: user.id, label: user.display_name, detail: "you" };
  return may("users.list") ? findPeople : async () => [self];
}

/** Says who does which step; whoever is named does it, or an agent of theirs. */
export function Assignees({ steps, assigned, onChange }: Props) {
  const find = useFindAssignee();
  return (
    <details className="more-fields">
      <summary>Who does which step</summary>
      <div className="stack tight">
        {steps.map(({ step_key, title }) => (
          <Combo
            key={step_key}
            label={title}
            value={assigned[step_key] ?? null}
            onChange={(person) => onChange({ ...assigned, [step_key]: person })}
            find={find}
            none="Whoever takes it"
          />
        ))}
      </div>
    </details>
  );
}
