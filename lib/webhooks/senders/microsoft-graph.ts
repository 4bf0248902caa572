import { isSecret, type Scheme } from "../schemes.ts";
import { first, parameter, type Sender } from "../sender.ts";

interface Notifications {
  value: { clientState?: unknown }[];
}

/** Each notification of a request repeats the secret, as `clientState`: like a token, it is no signature. */
const SCHEME: Scheme = {
  name: "microsoft_graph",
  header: null,
  mismatch: "clientState does not match",
  read({ body }) {
    const states = readStates(body);
    if (states.length === 0) return "no clientState";
    return { signedBy: (secret) => (states.every((state) => isSecret(state, secret)) ? [body] : null) };
  },
};

function readStates(body: Uint8Array): string[] {
  try {
    const { value } = JSON.parse(Buffer.from(body).toString("utf8")) as Notifications;
    return value.map(({ clientState }) => String(clientState));
  } catch {
    return [];
  }
}

export const sender: Sender = {
  title: "Microsoft Graph",
  schemes: [SCHEME],
  kind: "/value/0/changeType",
  fields: (look) => ({
    entity: look("/value/0/lifecycleEvent") ? "lifecycle" : "notification",
    action: first(look, "/value/0/lifecycleEvent", "/value/0/changeType"),
    subject: look("/value/0/resource"),
  }),
  data(payload) {
    const { value, ...rest } = Object(payload) as Notifications;
    if (!Array.isArray(value)) return payload;
    return { value: value.map(({ clientState: _, ...each }) => each), ...rest };
  },
  handshake: {
    about: "`POST` with `validationToken` and no body; the token is repeated",
    challenge(request) {
      const echo = parameter(request, "validationToken", /^[\x20-\x7e]{1,2000}$/);
      return request.method === "POST" && request.empty && echo !== null ? { echo } : null;
    },
  },
  sample: {
    payload: {
      value: [
        {
          subscriptionId: "d0e1f2a3",
          changeType: "created",
          resource: "Users/1/Messages/2",
          resourceData: { "@odata.type": "#Microsoft.Graph.Message", id: "2" },
        },
      ],
    },
    type: "notification.created",
  },
  // As https://learn.microsoft.com/graph/change-notifications-delivery-webhooks shows.
  vector: {
    secret: "a-client-state-of-32-characters.",
    body: '{"value":[{"subscriptionId":"d0e1f2a3","clientState":"a-client-state-of-32-characters.","changeType":"created"}]}',
    headers: {},
  },
};
