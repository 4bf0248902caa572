import { useState } from "react";
import { type Demo, type DemoApi, demoOf } from "../../../../client/demo.ts";
import { api } from "../../data/api.ts";
import { nullIfGone } from "../../data/names.ts";
import { type Loaded, useLoad } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ActButton } from "../../ui/form-dialog.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { useTask } from "../../ui/task.tsx";
import { Copied } from "../../ui/text.tsx";
import "./overview.css";

type State = Awaited<ReturnType<DemoApi["get"]>>;

/** Whether the organisation has a demonstration, or is one; null where there are none, or for those who may not. */
export function useDemo(): Loaded<State | null> {
  const { may } = useSession();
  const demo = may("agents.create") ? demoOf(api) : undefined;
  return useLoad<State | null>(
    async (signal) => demo?.get({}, { signal }).catch(nullIfGone) ?? null,
    [demo !== undefined],
  );
}

const REMOVE = {
  label: "Remove",
  kind: "remove",
  small: true,
  title: "Remove the demonstration?",
  text: "Its organisation is erased, with all that was done in it.",
  action: "Remove",
} as const;

/** On a new server the offer of a demonstration; later what can be done with it. */
export function Demonstration({ demo, isFirst }: { demo: Loaded<State | null>; isFirst: boolean }) {
  const calls = demoOf(api);
  const [made, setMade] = useState<Demo>();
  const create = useTask(async () => {
    setMade(await calls?.create());
    await demo.reload();
  });
  const { data } = demo;
  if (!data || !calls || !(isFirst || data.tenant || data.own)) return null;
  if (data.own)
    return (
      <Card
        title="This organisation is a demonstration"
        actions={<ActButton {...REMOVE} act={() => calls.delete()} after={() => location.assign("/")} />}
      >
        <p className="muted">Change what you like. Removing it erases everything that is in it.</p>
      </Card>
    );
  return (
    <Card
      title="Demonstration"
      actions={
        <>
          {data.tenant && (
            <ActButton
              {...REMOVE}
              act={() => calls.delete()}
              done="Demonstration removed."
              after={demo.reload}
            />
          )}
          <Button
            label={data.tenant ? "Open" : "Create a demonstration"}
            small
            busy={create.busy}
            onClick={() => create.run()}
          />
        </>
      }
    >
      <p className="muted">
        A small online shop with agents, events and a dead letter, memories, a run, and a question for you, in
        a separate organisation. This one stays as it is.
      </p>
      {made && <Made demo={made} onClose={() => setMade(undefined)} />}
    </Card>
  );
}

function Made({ demo: { tenant, person, made }, onClose }: { demo: Demo; onClose(): void }) {
  const enter = useTask(async () => {
    await api.auth.startSession({ ...person, tenant_slug: tenant.slug });
    location.assign("/");
  });
  return (
    <Dialog
      title={tenant.name}
      onClose={onClose}
      footer={
        <>
          <Button label="Not now" onClick={onClose} />
          <Button label="Sign in to it" kind="primary" busy={enter.busy} onClick={() => enter.run()} />
        </>
      }
    >
      <div className="stack">
        <p>It has:</p>
        <ul className="demo-parts">
          {made.map(({ what }) => (
            <li key={what}>{what}</li>
          ))}
        </ul>
        <Facts
          of={{
            "E-mail": <Copied text={person.email} label="Copy e-mail" />,
            Password: <Copied text={person.password} label="Copy password" />,
          }}
        />
        <p className="muted small">Signing in to it signs you out here.</p>
      </div>
    </Dialog>
  );
}
