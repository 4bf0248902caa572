import { useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { type AuthorizationRequest, isApiError } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form-dialog.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { ConsentPage, Decision } from "../authorize/authorize.tsx";
import { Approval } from "./devices.tsx";

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
      <ConsentPage>
        <Decision query={`user_code=${code}`} request={request} />
      </ConsentPage>
    );
  return (
    <Page title="Connect a device" lead="Let a program on a device act as one of your agents.">
      <div className="connect">
        <Card>
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
                  No open request for your agents has this code. Codes expire after 10 minutes: request a new
                  one, or ask the agent's owner or an admin to approve it.
                </p>
              )}
            </Form>
          )}
        </Card>
      </div>
    </Page>
  );
}
