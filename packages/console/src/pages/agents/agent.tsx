import { useNavigate, useParams } from "react-router";
import type { Agent as AgentShape } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { nameIs } from "../../data/names.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import type { Loaded } from "../../data/use-load.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Power, PowerOff, Trash2 } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { toast } from "../../ui/toast.tsx";
import { handoffTabs } from "../handoffs/tabs.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Devices } from "./devices.tsx";
import { AgentState, HEALTH } from "./health.tsx";
import { Interests } from "./interests.tsx";
import { Keys } from "./keys.tsx";
import { AgentSettings } from "./settings.tsx";

const ABOVE = [{ to: "/agents", label: "Agents" }];

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
  const { data } = agent;
  return (
    <Page
      title={data?.name ?? "Agent"}
      above={ABOVE}
      state={data && <AgentState agent={data} />}
      lead={data?.description}
      actions={data && may("agents.setStatus") && <Activation agent={data} of={agent} />}
    >
      <Load of={agent}>{(loaded) => <Tabs label="Agent" tabs={partsOf(loaded, agent)} />}</Load>
    </Page>
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
      <Button icon={isActive ? PowerOff : Power} busy={change.busy} onClick={() => change.run()}>
        {isActive ? "Deactivate" : "Activate"}
      </Button>
      {!isActive && may("agents.delete") && <Deletion agent={agent} />}
    </>
  );
}

/** Offered once nothing works with the agent any more. */
function Deletion({ agent: { id: agent_id, name } }: { agent: AgentShape }) {
  const navigate = useNavigate();
  const remove = useTask(async () => {
    const sure = await confirm({
      title: `Delete ${name}?`,
      text: "Its private memories, state, handoffs, deliveries, interests, channels and schedules are erased. Shared memories, outputs, documents, events and runs stay. This cannot be undone.",
      action: "Delete agent",
    });
    if (!sure) return;
    await api.agents.delete({ agent_id });
    toast({ title: `${name} deleted.` });
    navigate("/agents");
  });
  return (
    <Button kind="remove" icon={Trash2} busy={remove.busy} onClick={() => remove.run()}>
      Delete
    </Button>
  );
}
