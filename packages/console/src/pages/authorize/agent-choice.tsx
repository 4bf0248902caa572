import { api } from "../../data/api.ts";
import { findAgents } from "../../data/find.ts";
import { useSession } from "../../shell/session.tsx";
import { type Choice, Combo } from "../../ui/combo.tsx";
import { Segments, TextField } from "../../ui/field.tsx";

/** The agent that a client will act as: an existing one, or a new one of this name. */
export interface Chosen {
  kind: "new" | "existing";
  name: string;
  agent: Choice | null;
}

const KINDS = [
  { value: "new", label: "New agent" },
  { value: "existing", label: "Existing agent" },
] as const;

export const isChosen = ({ kind, name, agent }: Chosen) =>
  kind === "new" ? name.trim() !== "" : agent !== null;

/** Chooses the agent; only admins can create one. */
export function AgentChoice({ chosen, onChange }: { chosen: Chosen; onChange(chosen: Chosen): void }) {
  const { may } = useSession();
  const { kind, name, agent } = chosen;
  return (
    <>
      {may("agents.create") && (
        <Segments
          label="Agent"
          options={KINDS}
          value={kind}
          onChange={(kind) => onChange({ ...chosen, kind })}
        />
      )}
      {kind === "new" ? (
        <TextField
          label="Name of the new agent"
          required
          maxLength={200}
          value={name}
          onChange={(name) => onChange({ ...chosen, name })}
          hint="You own it. It starts without memories and interests."
        />
      ) : (
        <Combo
          label="Agent to act as"
          hint="The client can do what this agent can, within the scopes below."
          value={agent}
          onChange={(agent) => onChange({ ...chosen, agent })}
          find={may("agents.list") ? findAgents : findOwnAgents}
        />
      )}
    </>
  );
}

/** Returns the agent's id. A new agent is created once: if the approval then fails, it is the existing one. */
export async function agentIdOf(chosen: Chosen, onChange: (chosen: Chosen) => void): Promise<string> {
  const { kind, name, agent } = chosen;
  if (kind === "existing") return (agent as Choice).id;
  const { id } = await api.agents.create({ name: name.trim(), delivery_mode: "poll" });
  onChange({ kind: "existing", name, agent: { id, label: name } });
  return id;
}

/** Finds one's own active agents by filtering all of them. */
async function findOwnAgents(text: string, signal: AbortSignal): Promise<Choice[]> {
  const found: Choice[] = [];
  for await (const { id, name, status } of api.agents.listOwn.all({ limit: 200 }, { signal }))
    if (status === "active" && name.toLowerCase().includes(text.trim().toLowerCase()))
      found.push({ id, label: name });
  return found.slice(0, 20);
}
