import { HUB_256, type Scheme, SERVICE, STANDARD_WEBHOOKS, SVIX } from "./schemes.ts";
import type { Sender } from "./sender.ts";
import { sender as bitbucket } from "./senders/bitbucket.ts";
import { sender as dropbox } from "./senders/dropbox.ts";
import { sender as github } from "./senders/github.ts";
import { sender as gitlab } from "./senders/gitlab.ts";
import { sender as jira } from "./senders/jira.ts";
import { sender as linear } from "./senders/linear.ts";
import { sender as meta } from "./senders/meta.ts";
import { sender as microsoftGraph } from "./senders/microsoft-graph.ts";
import { sender as pagerduty } from "./senders/pagerduty.ts";
import { sender as sentry } from "./senders/sentry.ts";
import { sender as shopify } from "./senders/shopify.ts";
import { sender as slack } from "./senders/slack.ts";
import { sender as standardWebhooks } from "./senders/standard-webhooks.ts";
import { sender as stripe } from "./senders/stripe.ts";
import { sender as twilio } from "./senders/twilio.ts";
import { sender as typeform } from "./senders/typeform.ts";
import { sender as x } from "./senders/x.ts";
import { sender as zendesk } from "./senders/zendesk.ts";
import { sender as zoom } from "./senders/zoom.ts";

/** Known senders by the names of their files in `senders/`. */
export const SENDERS: ReadonlyMap<string, Sender> = new Map(
  Object.entries({
    bitbucket,
    dropbox,
    github,
    gitlab,
    jira,
    linear,
    meta,
    microsoft_graph: microsoftGraph,
    pagerduty,
    sentry,
    shopify,
    slack,
    standard_webhooks: standardWebhooks,
    stripe,
    twilio,
    typeform,
    x,
    zendesk,
    zoom,
  }),
);

/** The schemes that a header identifies. The first whose header a request has counts: senders repeat older ones. */
export const SCHEMES: readonly Scheme[] = [
  ...new Set([
    ...[SERVICE, STANDARD_WEBHOOKS, SVIX, HUB_256],
    ...[...SENDERS.values()].flatMap(({ schemes }) => schemes),
  ]),
].filter(({ header }) => header !== null);
