import { useState } from "react";
import type { Agent } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Failure } from "../../ui/failure.tsx";
import { SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { Card, Fact, Facts } from "../../ui/page.tsx";
import { Id, Secret } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { MODES } from "./create.tsx";

const orNull = (text: string) => (text === "" ? null : Number(text));

/** How events reach an agent, and what it is called. */
export function AgentSettings({ agent, onSaved }: { agent: Agent; onSaved(agent: Agent): void }) {
  const { isAdmin } = useSession();
  const [name, setName] = useState(agent.name);
  const [description, setDescription] = useState(agent.description ?? "");
  const [mode, setMode] = useState(agent.delivery_mode);
  const [endpoint, setEndpoint] = useState(agent.delivery_endpoint ?? "");
  const [timeout, setLease] = useState(String(agent.visibility_timeout_seconds ?? ""));
  const [budget, setBudget] = useState(String(agent.retry_budget ?? ""));
  const save = useTask(
    async () => {
      const changed = await api.agents.update({
        agent_id: agent.id,
        name,
        description: description || null,
        delivery_mode: mode,
        delivery_endpoint: endpoint || null,
        visibility_timeout_seconds: orNull(timeout),
        retry_budget: orNull(budget),
      });
      toast({ title: "Saved." });
      onSaved(changed);
    },
    { quiet: true },
  );
  return (
    <div className="stack">
      <Card title="Delivery">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            save.run();
          }}
        >
          <div className="grid-2">
            <TextField label="Name" required value={name} onChange={setName} />
            <SelectField
              label="How it receives events"
              options={MODES}
              value={mode}
              onChange={(value) => setMode(value as Agent["delivery_mode"])}
            />
          </div>
          <TextArea label="Description" rows={2} value={description} onChange={setDescription} />
          {(mode === "push" || endpoint) && (
            <TextField
              label="Endpoint"
              type="url"
              value={endpoint}
              onChange={setEndpoint}
              hint={
                agent.push_stopped
                  ? "It answered 410 Gone, so pushing stopped; saving an endpoint starts it again."
                  : "Loopback and private addresses are refused."
              }
            />
          )}
          <div className="grid-2">
            <TextField
              label="Lease in seconds"
              type="number"
              min={1}
              max={43_200}
              value={timeout}
              onChange={setLease}
              placeholder="the installation's default"
              hint="How long it has to acknowledge a delivery."
            />
            <TextField
              label="Hand-outs at most"
              type="number"
              min={1}
              max={100}
              value={budget}
              onChange={setBudget}
              placeholder="the installation's default"
              hint="Then the delivery becomes a dead letter."
            />
          </div>
          {save.error !== undefined && <Failure error={save.error} />}
          {isAdmin && (
            <div className="row">
              <Button kind="primary" type="submit" busy={save.busy}>
                Save
              </Button>
            </div>
          )}
        </form>
      </Card>
      <Card title="Identity">
        <Facts>
          <Fact name="Agent id">
            <Id>{agent.id}</Id>
          </Fact>
          <Fact name="Team">{agent.team_id ? <Id>{agent.team_id}</Id> : "—"}</Fact>
          <Fact name="Owner">{agent.owner_user_id ? <Id>{agent.owner_user_id}</Id> : "—"}</Fact>
        </Facts>
      </Card>
      {isAdmin && <Signing agent={agent} />}
    </div>
  );
}

function Signing({ agent }: { agent: Agent }) {
  const [secret, setSecret] = useState<string>();
  const rotate = useTask(async () => {
    const sure = await confirm({
      title: "Make a new signing secret?",
      text: "Pushes are signed with the new one from now on, and with the old one too for 24 hours.",
      action: "Make a new secret",
      danger: false,
    });
    if (sure) setSecret((await api.agents.rotateSigningSecret({ agent_id: agent.id })).signing_secret);
  });
  return (
    <Card title="Signing secret">
      {secret ? (
        <Secret label="Signing secret" value={secret} note="It is shown only now." />
      ) : (
        <div className="row">
          <p className="muted grow">
            Pushes to {agent.name} are signed as Standard Webhooks say, so that it can tell them from others'.
          </p>
          <Button busy={rotate.busy} onClick={() => rotate.run()}>
            New secret
          </Button>
        </div>
      )}
    </Card>
  );
}
