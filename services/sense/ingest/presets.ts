import type { SchemeName } from "../../../connectors/webhook-schemes.ts";
import type { PresetName } from "./mapping.contract.ts";

/** Returns a scalar of a delivery as text: a JSON Pointer into the payload or a header (`header:NAME`). */
export type Look = (term: string) => string | undefined;

/** The parts of an event as a sender's delivery has them. */
interface PresetFields {
  entity: string | undefined;
  action: string | undefined;
  subject?: string | undefined;
  /** The sender's id of the event, if the signed body contains it. */
  id?: string | undefined;
  /** ISO 8601, or seconds or milliseconds since the epoch. */
  time?: string | undefined;
}

export interface Preset {
  title: string;
  /** The signatures that the sender uses: no other is accepted. */
  schemes: readonly SchemeName[];
  /** The header with the sender's id of a delivery, the same for its retries. */
  delivery?: string;
  /** Headers that say what a delivery is about, which the sender does not sign. */
  topic?: readonly string[];
  /** Whether it sends one body for several topics. */
  several?: boolean;
  /** Where the kind of event is; the error for a delivery without one names it. */
  kind: string;
  fields(look: Look): PresetFields;
}

/** The action of senders that name none. */
const RECEIVED = "received";

const first = (look: Look, ...terms: string[]) => {
  for (const term of terms) {
    const value = look(term);
    if (value !== undefined) return value;
  }
  return undefined;
};

/** Splits `customer.subscription.updated` before its last part. */
function dotted(name: string | undefined): Pick<PresetFields, "entity" | "action"> {
  const at = name?.lastIndexOf(".") ?? -1;
  return at > 0
    ? { entity: name?.slice(0, at), action: name?.slice(at + 1) }
    : { entity: name, action: RECEIVED };
}

const github: Preset = {
  title: "GitHub",
  schemes: ["github"],
  delivery: "x-github-delivery",
  topic: ["x-github-event"],
  kind: "header:X-GitHub-Event",
  fields: (look) => ({
    entity: look("header:X-GitHub-Event"),
    action: look("/action") ?? RECEIVED,
    subject: first(look, "/repository/full_name", "/organization/login"),
  }),
};

const gitlab: Preset = {
  title: "GitLab",
  schemes: ["standard_webhooks", "gitlab_token"],
  delivery: "idempotency-key",
  kind: "/object_kind",
  fields: (look) => ({
    entity: first(look, "/object_kind", "/event_name"),
    action:
      first(
        look,
        "/object_attributes/action",
        "/action",
        "/object_attributes/status",
        "/build_status",
        "/status",
      ) ?? RECEIVED,
    subject: first(
      look,
      "/project/path_with_namespace",
      "/group/full_path",
      "/group_path",
      "/path_with_namespace",
    ),
    time: first(look, "/object_attributes/updated_at", "/object_attributes/finished_at"),
  }),
};

const slack: Preset = {
  title: "Slack",
  schemes: ["slack"],
  kind: "/event/type",
  fields(look) {
    const command = look("/command")?.replace(/^\//, "");
    const subject = first(
      look,
      "/event/channel",
      "/event/channel/id",
      "/event/item/channel",
      "/channel/id",
      "/channel_id",
    );
    const about = {
      subject: subject ?? first(look, "/event/user", "/event/user/id", "/user/id", "/team_id"),
    };
    if (command) return { entity: "command", action: command, ...about };
    const event = look("/event/type") ?? (look("/minute_rate_limited") && look("/type"));
    if (!event) return { entity: look("/type") && "interaction", action: look("/type"), ...about };
    return { entity: "event", action: event, ...about, id: look("/event_id"), time: look("/event_time") };
  },
};

const shopify: Preset = {
  title: "Shopify",
  schemes: ["shopify"],
  delivery: "x-shopify-webhook-id",
  topic: ["x-shopify-topic", "x-shopify-shop-domain"],
  several: true,
  kind: "header:X-Shopify-Topic",
  fields(look) {
    const [entity, action = RECEIVED] = look("header:X-Shopify-Topic")?.split("/") ?? [];
    return {
      ...{ entity, action, subject: first(look, "/admin_graphql_api_id", "header:X-Shopify-Shop-Domain") },
      time: look("header:X-Shopify-Triggered-At"),
    };
  },
};

/** What a request of Twilio is about: the field with its status, if any, and its id. */
const TWILIO: [entity: string, sid: string, status: string][] = [
  ["recording", "/RecordingSid", "/RecordingStatus"],
  ["message", "/MessageSid", "/MessageStatus"],
  ["message", "/SmsSid", "/SmsStatus"],
  ["call", "/CallSid", "/CallStatus"],
  ["conversation", "/ConversationSid", "/EventType"],
];

const twilio: Preset = {
  title: "Twilio",
  schemes: ["twilio"],
  delivery: "i-twilio-idempotency-token",
  kind: "/MessageSid",
  fields(look) {
    const [entity, sid = "", status = ""] = TWILIO.find(([, sid]) => look(sid)) ?? [];
    // An incoming message has SmsStatus only.
    const action = entity && first(look, status, ...(entity === "message" ? ["/SmsStatus"] : []));
    return { entity, action: action ?? RECEIVED, subject: look(sid) };
  },
};

const linear: Preset = {
  title: "Linear",
  schemes: ["linear"],
  delivery: "linear-delivery",
  kind: "/type",
  fields: (look) => ({
    entity: look("/type"),
    action: look("/action") ?? RECEIVED,
    subject: first(look, "/url", "/data/url", "/data/id"),
    time: first(look, "/createdAt", "/webhookTimestamp"),
  }),
};

const sentry: Preset = {
  title: "Sentry",
  schemes: ["sentry"],
  delivery: "request-id",
  topic: ["sentry-hook-resource"],
  kind: "header:Sentry-Hook-Resource",
  fields: (look) => ({
    entity: look("header:Sentry-Hook-Resource"),
    action: look("/action") ?? RECEIVED,
    subject: first(
      look,
      ...["/data/issue/web_url", "/data/issue/permalink", "/data/event/web_url", "/data/error/web_url"],
      ...["/data/web_url", "/data/issue/id", "/data/issue_id", "/data/installation/uuid"],
    ),
    time: look("header:Sentry-Hook-Timestamp"),
  }),
};

const stripe: Preset = {
  title: "Stripe",
  schemes: ["stripe"],
  kind: "/type",
  fields: (look) => ({
    ...dotted(look("/type")),
    subject: first(look, "/data/object/id", "/related_object/id"),
    id: look("/id"),
    time: look("/created"),
  }),
};

const standard_webhooks: Preset = {
  title: "Standard Webhooks",
  schemes: ["standard_webhooks", "svix"],
  kind: "/type",
  fields: (look) => ({ ...dotted(look("/type")), subject: look("/data/id"), time: look("/timestamp") }),
};

/** Senders whose signatures and deliveries are known. */
export const PRESETS: Record<PresetName, Preset> = {
  github,
  gitlab,
  slack,
  stripe,
  shopify,
  twilio,
  linear,
  sentry,
  standard_webhooks,
};
