import { type ReactNode, useEffect, useState } from "react";
import { useLocation, useSearchParams } from "react-router";
import { type AuthorizationRequest, isApiError } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { findAgents, findOwnActiveAgents } from "../../ui/combo.tsx";
import { TextField } from "../../ui/field.tsx";
import { combo, segments, text, useForm } from "../../ui/form.tsx";
import { Form } from "../../ui/form-dialog.tsx";
import { CircleCheck, CircleX, Link2Off, ShieldQuestion } from "../../ui/icons.tsx";
import { OutsideLink } from "../../ui/outside-link.tsx";
import { Card, Empty, Facts, Page } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { type Scope, ScopeChoice } from "../agents/keys.tsx";
import "../agents/agents.css";
import { Approval } from "../agents/devices.tsx";

/** The authorization endpoint: the page that a client sends its user to. */
export function Authorize() {
  const query = useLocation().search.slice(1);
  if (query) return <Consent query={query} />;
  return (
    <Page title="Connect a client">
      <Empty icon={Link2Off} title="Nothing to approve">
        A program opens this page when it asks to act as one of your agents. Start again in the program.
      </Empty>
    </Page>
  );
}

/** Asks a person whether a client may act as one of their agents, by the query of its request. */
function Consent({ query }: { query: string }) {
  const request = useRead(api.oauth.readRequest, { query });
  return (
    <ConsentPage {...CLIENT}>
      <Load of={request}>
        {(shown) =>
          shown.refusal ? (
            <div className="stack">
              <h2>{shown.client.name} has made a mistake</h2>
              <p className="notice bad" role="alert">
                {shown.refusal.error_description}.
              </p>
              <p className="muted">
                The client's developers can correct it. <i>Go back</i> reports it to{" "}
                <code>{shown.redirect_to}</code>.
              </p>
              {/* Followed only by a click: a link from elsewhere must not lead through this page. */}
              <div className="row">
                <a className="button" href={shown.refusal.redirect_uri} rel="noreferrer">
                  Go back
                </a>
              </div>
            </div>
          ) : (
            <Decision query={query} request={shown} />
          )
        }
      </Load>
    </ConsentPage>
  );
}

const CLIENT = { title: "Connect a client", lead: "Let a program act as one of your agents." };

function ConsentPage({ children, ...head }: { title: string; lead: string; children: ReactNode }) {
  return (
    <Page {...head}>
      <div className="connect">
        <Card>{children}</Card>
      </div>
    </Page>
  );
}

interface Settled {
  decision: "approve" | "deny";
  /** Where the browser goes; null for a device. */
  redirect_uri: string | null;
}

/** @param props.query that of the authorization request, or a device's code as `user_code=` */
function Decision({ query, request }: { query: string; request: AuthorizationRequest }) {
  const { may } = useSession();
  const { client } = request;
  const mayCreate = may("agents.create");
  const form = useForm(AGENT, { kind: mayCreate ? "new" : "existing", name: client.name });
  const { kind, name, agent } = form.values();
  // Everything is granted only on purpose.
  const [scopes, setScopes] = useState<Scope[]>(request.scopes.filter((scope) => scope !== "admin"));
  const [settled, setSettled] = useState<Settled>();
  const settle = (decision: Settled["decision"], redirect_uri: string | null) => {
    setSettled({ decision, redirect_uri });
    if (redirect_uri) location.assign(redirect_uri);
  };
  const approve = useFormTask(async () => {
    let agent_id = agent ?? "";
    if (kind === "new") {
      // It is created once: if the approval then fails, it is the existing one.
      agent_id = (await api.agents.create({ name, delivery_mode: "poll" })).id;
      form.change({ kind: "existing", agent: { id: agent_id, label: name } });
    }
    const { redirect_uri } = await api.oauth.decide({ query, decision: "approve", agent_id, scopes });
    settle("approve", redirect_uri);
  });
  const deny = useFormTask(async () => {
    settle("deny", (await api.oauth.decide({ query, decision: "deny" })).redirect_uri);
  });
  if (settled) return <Done {...settled} client={client} />;
  return (
    <Form
      task={{ ...approve, error: approve.error ?? deny.error }}
      submit="Approve"
      disabled={scopes.length === 0 || !(kind === "new" ? name : agent)}
      others={<Button label="Deny" busy={deny.busy} onClick={() => deny.run()} />}
    >
      <Asking request={request} />
      {mayCreate && form.show("kind")}
      {kind === "new"
        ? form.show("name")
        : form.show("agent", { find: may("agents.list") ? findAgents : findOwnActiveAgents })}
      <ScopeChoice of={request.scopes} value={scopes} onChange={setScopes} />
    </Form>
  );
}

const PLACES = {
  computer: "on your computer",
  app: "an app that has claimed this scheme",
  site: "",
} as const;

function Asking({ request }: { request: AuthorizationRequest }) {
  const { client, redirect_to, redirect_kind, user_code } = request;
  const verified =
    redirect_kind === "site" ? "" : "Any program on your computer can use the name of this client.";
  const doubt = client.host ? verified : "Nobody has verified the name of this client.";
  return (
    <>
      <div className="row">
        <ShieldQuestion aria-hidden size={20} />
        <h2>{client.name} wants to act as an agent</h2>
      </div>
      <Facts
        of={{
          Client: client.name,
          "Verified by":
            client.host ??
            (user_code ? "Nobody: any device can use this name" : "Nobody: it has registered itself"),
          Page: client.uri && <OutsideLink to={client.uri} />,
          "Answer goes to": redirect_to && (
            <>
              <code>{redirect_to}</code> {redirect_kind && PLACES[redirect_kind]}
            </>
          ),
          Code: user_code && <code>{user_code}</code>,
        }}
      />
      <p className={doubt ? "notice warn" : "muted"}>
        Approve only what you have just started yourself. {doubt}
        {user_code && " Compare the code with the one on your device: approve only if they are the same."}
      </p>
    </>
  );
}

function Done({ decision, redirect_uri, client }: Settled & Pick<AuthorizationRequest, "client">) {
  const isApproved = decision === "approve";
  return (
    <Empty
      icon={isApproved ? CircleCheck : CircleX}
      title={isApproved ? `${client.name} is connected` : "Denied"}
      action={
        redirect_uri && (
          <a className="button" href={redirect_uri} rel="noreferrer">
            Back to {client.name}
          </a>
        )
      }
    >
      {isApproved
        ? "You can close this page. To disconnect the client, open the agent's devices."
        : "The client gets no access. You can close this page."}
    </Empty>
  );
}

const KINDS = [
  { value: "new", label: "New agent" },
  { value: "existing", label: "Existing agent" },
] as const;

/** The agent that a client will act as; only admins can create one. */
const AGENT = {
  kind: segments("Agent", KINDS),
  name: text("Name of the new agent", {
    required: true,
    maxLength: 200,
    hint: "You own it. It starts without memories and interests.",
  }),
  agent: combo("Agent to act as", {
    hint: "The client can do what this agent can, within the scopes below.",
  }),
};

const CODE = /^[A-Z0-9]{4}-[A-Z0-9]{4}$/;

/** Normalizes a dictated or hurriedly typed code: lower case or without the hyphen. */
function normalizeCode(text: string): string {
  const letters = text
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, "")
    .slice(0, 8);
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters;
}

/** Returns what a device asks for whose code has no agent yet: the person chooses it. */
const requestOf = (code: string) => api.oauth.readRequest({ query: `user_code=${code}` });

/** The page for a person who connects a device: the code, the device, approve or deny. */
export function Connect() {
  const [search] = useSearchParams();
  const given = normalizeCode(search.get("code") ?? "");
  const [code, setCode] = useState(given);
  const [request, setRequest] = useState<AuthorizationRequest>();
  const [agent, setAgent] = useState<{ id: string; name: string }>();
  const look = useFormTask(async () => {
    try {
      const { agent_id } = await api.devices.lookUp({ code });
      setAgent({ id: agent_id, name: (await api.agents.get({ agent_id })).name });
    } catch (error) {
      if (!isApiError(error, "not_found")) throw error;
      setRequest(await requestOf(code));
    }
  });
  const { run } = look;
  const unknown = isApiError(look.error, "not_found");
  const shown = unknown ? { ...look, error: undefined } : look;
  // A link contains the code and needs no button.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the address that was opened
  useEffect(() => {
    if (CODE.test(given)) run();
  }, [given]);
  if (request)
    return (
      <ConsentPage {...CLIENT}>
        <Decision query={`user_code=${code}`} request={request} />
      </ConsentPage>
    );
  return (
    <ConsentPage
      title="Enter a device code"
      lead="A device or program shows a code: enter it here to let it act as one of your agents."
    >
      {agent ? (
        <Approval agent={agent} />
      ) : (
        <Form task={shown} submit="Continue" disabled={!CODE.test(code)}>
          <TextField
            label="Code"
            className="code code-input"
            required
            autoFocus
            placeholder="XXXX-XXXX"
            value={code}
            onChange={(value) => setCode(normalizeCode(value))}
            hint="The code shown on the device."
          />
          {unknown && (
            <p className="notice warn" role="alert">
              No open request for your agents has this code. Codes expire after 10 minutes: request a new one,
              or ask the agent's owner or an admin to approve it.
            </p>
          )}
        </Form>
      )}
    </ConsentPage>
  );
}
