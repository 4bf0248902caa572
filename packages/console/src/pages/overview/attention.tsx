import { Link } from "react-router";
import type { Agent } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { compact, plural } from "../../data/format.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import type { Loaded } from "../../data/use-load.ts";
import { useSession } from "../../shell/session.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { AgentState, HEALTH } from "../agents/health.tsx";

interface InNeed {
  agents: readonly Agent[];
  total: number;
}

const MOST_SHOWN = 5;

/** The agents that somebody should look at, the worst first; none for those who may not list agents. */
export function useAttention(): Loaded<InNeed> {
  const { may } = useSession();
  const mayList = may("agents.list");
  return useFollowed(
    HEALTH,
    async (signal) => {
      if (!mayList) return { agents: [], total: 0 };
      const wanted = { needs_attention: true, include: "delivery", sort: "attention" } as const;
      return api.agents.list({ ...wanted, limit: MOST_SHOWN }, { signal });
    },
    [mayList],
  );
}

/** What a person should look at first. */
export function Attention({ agents, total }: InNeed) {
  if (total === 0) return null;
  return (
    <Card
      title={`${plural(total, "agent needs", "agents need")} attention`}
      actions={
        <ButtonLink to="/agents?status=attention" small kind="quiet">
          View all
        </ButtonLink>
      }
      flush
    >
      <ul className="recent">
        {agents.map((agent) => (
          <li key={agent.id}>
            <Link to={`/agents/${agent.id}`} className="recent-event in-need">
              <span>
                <strong>{agent.name}</strong>
                <span className="muted small">{agent.delivery?.reason}</span>
              </span>
              <AgentState agent={agent} />
              <span className="muted small">{agent.delivery && backlogOf(agent.delivery)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const backlogOf = ({ pending, dead }: NonNullable<Agent["delivery"]>) =>
  [dead > 0 && `${compact(dead)} dead`, pending > 0 && `${compact(pending)} pending`]
    .filter(Boolean)
    .join(" · ");
