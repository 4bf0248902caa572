import { useParams } from "react-router";
import type { Agent as AgentShape } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { nameIs } from "../../data/names.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import type { Loaded } from "../../data/use-load.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { confirm, DeleteButton } from "../../ui/confirm.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Power, PowerOff } from "../../ui/icons.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { toast } from "../../ui/toast.tsx";
import { handoffTabs } from "../handoffs/tabs.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Devices } from "./devices.tsx";
import { AgentState, HEALTH } from "./health.tsx";
import { Interests } from "./interests.tsx";
import { Keys } from "./keys.tsx";
import { AgentSettings } from "./settings.tsx";

const partsOf = (agent: AgentShape, of: Loaded<AgentShape>): Tab[] => [
  { key: "deliveries", label: "Deliveries", content: <Deliveries agent={agent} reload={of.reload} /> },
  { key: "interests", label: "Interests", needs: "interests.list", content: <Interests agent={agent} /> },
  { key: "keys", label: "API keys", needs: "keys.list", content: <Keys agent={agent} /> },
  { key: "devices", label: "Devices", needs: "sessions.list", content: <Devices agent={agent} /> },
  ...handoffTabs(agent),
  {
    key: "settings",
    label: "Settings",
    content: <AgentSettings agent={agent} onSaved={() => void of.reload()} />,
  },
];

export function Agent() {
  const { id = "" } = useParams();
  const { may } = useSession();
  const agent = useFollowed(
    HEALTH,
    async (signal) => {
      const read = await api.agents.get({ agent_id: id, include: "delivery" }, { signal });
      nameIs(read.id, read.name);
      return read;
    },
    [id],
  );
  return (
    <DetailPage
      of={agent}
      kind="Agent"
      above={{ "/agents": "Agents" }}
      titleOf={({ name }) => name}
      stateOf={(data) => <AgentState agent={data} />}
      leadOf={({ description }) => description}
      actionsOf={(data) => may("agents.setStatus") && <Activation agent={data} of={agent} />}
    >
      {(data) => <Tabs label="Agent" tabs={partsOf(data, agent)} />}
    </DetailPage>
  );
}

function Activation({ agent, of }: { agent: AgentShape; of: Loaded<AgentShape> }) {
  const { may } = useSession();
  const isActive = agent.status === "active";
  const change = useTask(async () => {
    const sure =
      !isActive ||
      (await confirm({
        title: `Deactivate ${agent.name}?`,
        text: "Its tokens stop working within 5 seconds, and new events no longer match it. Pending deliveries are kept. You can activate it again.",
        action: "Deactivate",
      }));
    if (!sure) return;
    await api.agents.setStatus({ agent_id: agent.id, status: isActive ? "inactive" : "active" });
    await of.reload();
    toast({ title: isActive ? `${agent.name} is inactive.` : `${agent.name} is active.` });
  });
  return (
    <>
      <Button
        label={isActive ? "Deactivate" : "Activate"}
        icon={isActive ? PowerOff : Power}
        busy={change.busy}
        onClick={() => change.run()}
      />
      {/* Once nothing works with the agent any more. */}
      {!isActive && may("agents.delete") && (
        <DeleteButton
          name={agent.name}
          text="Its private memories, state, handoffs, deliveries, interests, channels and schedules are erased. Shared memories, outputs, documents, events and runs stay. This cannot be undone."
          action="Delete agent"
          act={() => api.agents.delete({ agent_id: agent.id })}
          to="/agents"
        />
      )}
    </>
  );
}
