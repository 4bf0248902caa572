// Written by `npm run openapi` from the contracts: change those.
import type { Call, PagedCall, StreamCall } from "../operation.ts";

/** Every operation of the service: `api.<domain>.<operation>(params)`. */
export interface Api {
  agents: {
    /** Create an agent.
     *
     * The owner is the signed-in person, unless `owner_user_id` names another.
     *
     * Needs the scope `admin`. */
    create: Call<AgentsCreateParams, AgentsCreateResult>;
    /** List agents, oldest first.
     *
     * Needs the scope `admin`. */
    list: PagedCall<AgentsListParams, AgentsListResult, AgentsListResult["agents"][number]>;
    /** List the agents that the signed-in person owns, oldest first. */
    listOwn: PagedCall<AgentsListOwnParams, AgentsListOwnResult, AgentsListOwnResult["agents"][number]>;
    /** Read an agent.
     *
     * An agent may read itself and a person the agents it owns; others need the scope `admin`. */
    get: Call<AgentsGetParams, AgentsGetResult>;
    /** Update an agent.
     *
     * An endpoint that resolves to a loopback, link-local or private address is refused.
     *
     * Needs the scope `admin`. */
    update: Call<AgentsUpdateParams, AgentsUpdateResult>;
    /** Deactivate or activate an agent.
     *
     * An inactive agent's tokens are refused within 5 seconds and stay refused after reactivation: exchange its keys for new ones. Inactive agents match no events; their pending deliveries stay.
     *
     * Needs the scope `admin`. */
    setStatus: Call<AgentsSetStatusParams, AgentsSetStatusResult>;
    /** Rotate an agent's signing secret.
     *
     * For 24 hours, pushes are signed with the previous secret too.
     *
     * Needs the scope `admin`. */
    rotateSigningSecret: Call<AgentsRotateSigningSecretParams, AgentsRotateSigningSecretResult>;
  };
  audit: {
    /** List audited actions, newest first.
     *
     * Audited are actions reserved for admins or people, deletions, irreversible actions, changes of runs, templates and outputs, and sign-ins and sign-outs. A failed sign-in (`auth.login`, `refused`) is recorded for each account of its e-mail address, once a minute per network; without the address if several tenants exist and the request named none. Entries are kept for `AUDIT_DAYS`.
     *
     * Needs the scope `admin`. */
    list: PagedCall<AuditListParams, AuditListResult, AuditListResult["entries"][number]>;
  };
  auth: {
    /** Exchange an API key for an access token.
     *
     * The key in the body is the credential. The token expires after an hour, or with its key. Failures are limited per address.
     *
     * As a form it is the client credentials grant of OAuth 2.0: the key is `client_secret`, or the password of HTTP Basic; `client_id` may be anything. Such requests are refused as OAuth has it, with `error` and `error_description`. */
    token: Call<AuthTokenParams, AuthTokenResult>;
    /** Sign in as a person.
     *
     * The password tells the accounts of an e-mail address apart; `tenant_slug` is needed only if it fits several. Failures are limited per address. */
    login: Call<AuthLoginParams, AuthLoginResult>;
    /** Read the caller of the token. */
    me: Call<AuthMeParams, AuthMeResult>;
    /** Sign out, or revoke an agent's token.
     *
     * For people, all tokens of this sign-in are refused within 5 seconds, renewed ones included. For agents, only this token ends; its key stays valid. An API key sent as the bearer token is revoked. */
    logout: Call<AuthLogoutParams, AuthLogoutResult>;
    /** Change the caller's password.
     *
     * All tokens of the person are revoked; the response contains a new one. */
    password: Call<AuthPasswordParams, AuthPasswordResult>;
    /** Sign in a browser.
     *
     * The token is set as an httpOnly cookie for this origin only; requests with it that change state need `X-CSRF-Token`. Rate limits are those of `POST /auth/login`. */
    startSession: Call<AuthStartSessionParams, AuthStartSessionResult>;
    /** Read the signed-in person and the session's CSRF token. */
    session: Call<AuthSessionParams, AuthSessionResult>;
    /** Renew a session.
     *
     * Extends it by an hour, up to 12 hours after sign-in. */
    renewSession: Call<AuthRenewSessionParams, AuthRenewSessionResult>;
    /** Sign a browser out.
     *
     * All tokens of the session are refused within 5 seconds, and the cookie is removed. */
    endSession: Call<AuthEndSessionParams, AuthEndSessionResult>;
    /** Read the public keys of access tokens and receipts (RFC 7517). */
    jwks: Call<AuthJwksParams, AuthJwksResult>;
  };
  bundles: {
    /** Gather context for a task.
     *
     * Memories, outputs and the agent's own handoffs that fit the query, or the latest ones without a query. The bundle is a snapshot, kept for `BUNDLE_RETENTION_DAYS` and while a handoff or an attempt on a step names it. A kind that is unavailable only makes the bundle `degraded`. A bundle may be empty.
     *
     * Needs the scope `memory:read`. */
    assemble: Call<BundlesAssembleParams, BundlesAssembleResult>;
    /** Read a bundle as it was gathered.
     *
     * Needs the scope `memory:read`. */
    get: Call<BundlesGetParams, BundlesGetResult>;
    /** Read a bundle's brief.
     *
     * The stored bytes.
     *
     * Needs the scope `memory:read`. */
    brief: Call<BundlesBriefParams, BundlesBriefResult>;
  };
  channels: {
    /** Create a channel.
     *
     * Needs the scope `channel:write`. */
    create: Call<ChannelsCreateParams, ChannelsCreateResult>;
    /** List channels by name.
     *
     * Needs the scope `channel:read`. */
    list: PagedCall<ChannelsListParams, ChannelsListResult, ChannelsListResult["channels"][number]>;
    /** Read a channel.
     *
     * Needs the scope `channel:read`. */
    get: Call<ChannelsGetParams, ChannelsGetResult>;
    /** Rename or describe a channel.
     *
     * Needs the scope `channel:write`. */
    update: Call<ChannelsUpdateParams, ChannelsUpdateResult>;
    /** Delete a channel with its feeds and members.
     *
     * Events matched before are still delivered.
     *
     * Needs the scope `channel:write`. */
    delete: Call<ChannelsDeleteParams, ChannelsDeleteResult>;
    /** Join a channel, or add an agent to it.
     *
     * Needs the scope `channel:write`. */
    addMember: Call<ChannelsAddMemberParams, ChannelsAddMemberResult>;
    /** List the members of a channel, oldest first.
     *
     * Needs the scope `channel:read`. */
    listMembers: PagedCall<ChannelsListMembersParams, ChannelsListMembersResult, ChannelsListMembersResult["members"][number]>;
    /** Leave a channel, or remove an agent from it.
     *
     * Needs the scope `channel:write`. */
    removeMember: Call<ChannelsRemoveMemberParams, ChannelsRemoveMemberResult>;
    /** Subscribe a channel to events.
     *
     * Every event that matches goes to every member. A filter that does not compile is `validation_error` with `details.position`.
     *
     * Needs the scope `channel:write`. */
    createFeed: Call<ChannelsCreateFeedParams, ChannelsCreateFeedResult>;
    /** List the feeds of a channel, oldest first.
     *
     * Needs the scope `channel:read`. */
    listFeeds: PagedCall<ChannelsListFeedsParams, ChannelsListFeedsResult, ChannelsListFeedsResult["feeds"][number]>;
    /** Delete a feed.
     *
     * Needs the scope `channel:write`. */
    deleteFeed: Call<ChannelsDeleteFeedParams, ChannelsDeleteFeedResult>;
  };
  connectors: {
    /** Create a connector that turns a broker's messages into events.
     *
     * Messages are acknowledged only when their event is durable. A message in structured mode (`application/cloudevents+json`) passes unchanged; any other must be JSON and is mapped. Messages that cannot be mapped become dead letters with the reason `mapping error: …`. A tenant has at most 50 connectors.
     *
     * Needs the scope `admin`. */
    create: Call<ConnectorsCreateParams, ConnectorsCreateResult>;
    /** List connectors with their state, oldest first.
     *
     * Needs the scope `admin`. */
    list: PagedCall<ConnectorsListParams, ConnectorsListResult, ConnectorsListResult["connectors"][number]>;
    /** Read a connector and its state.
     *
     * Needs the scope `admin`. */
    get: Call<ConnectorsGetParams, ConnectorsGetResult>;
    /** Pause, resume or remap a connector.
     *
     * Messages already received are finished first; the rest stay at the broker. A mapping is replaced as a whole; messages that the previous one could not map can be replayed from the dead letters.
     *
     * Needs the scope `admin`. */
    update: Call<ConnectorsUpdateParams, ConnectorsUpdateResult>;
    /** Delete a connector.
     *
     * Messages already received are finished first; the rest stay at the broker.
     *
     * Needs the scope `admin`. */
    delete: Call<ConnectorsDeleteParams, ConnectorsDeleteResult>;
  };
  deliveries: {
    /** Poll for deliveries.
     *
     * Highest priority first, then oldest; best effort. Deliveries not acknowledged before `lease_expires_at` are redelivered. A response has at most 4 MB of events. `limit` and `wait` outside their range are clamped.
     *
     * Needs the scope `receive`. */
    poll: Call<DeliveriesPollParams, DeliveriesPollResult>;
    /** Acknowledge deliveries.
     *
     * Ids that are unknown, already acknowledged or another agent's are not counted.
     *
     * Needs the scope `receive`. */
    ack: Call<DeliveriesAckParams, DeliveriesAckResult>;
    /** Reject deliveries, to be retried later.
     *
     * Without `delay_seconds`, retried after 1 s, 2 s, 4 s … (±20 %, at most 1 h); 0 retries at once. The attempt counts: when the retry budget is spent, the delivery is dead-lettered with the reason.
     *
     * Needs the scope `receive`. */
    nack: Call<DeliveriesNackParams, DeliveriesNackResult>;
    /** Extend the lease of deliveries.
     *
     * The lease ends `seconds` from now. Deliveries that are not in flight are not counted.
     *
     * Needs the scope `receive`. */
    extend: Call<DeliveriesExtendParams, DeliveriesExtendResult>;
    /** Receive deliveries as server-sent events.
     *
     * `event: delivery`, `id:` the delivery's id, `data:` the delivery as in a poll; a comment every 15 s. Acknowledge with `POST /delivery/ack`. Closing the stream returns unacknowledged deliveries at once, without counting the attempt.
     *
     * Needs the scope `receive`. */
    stream: StreamCall<DeliveriesStreamParams>;
    /** List dead letters, newest first.
     *
     * The caller's; for admins, the whole tenant's.
     *
     * Needs the scope `receive`. */
    deadLetters: PagedCall<DeliveriesDeadLettersParams, DeliveriesDeadLettersResult, DeliveriesDeadLettersResult["items"][number]>;
    /** Replay a dead letter.
     *
     * The event is matched again. The dead letter's agent gets a new retry budget if it still matches; agents that match now and never received the event get it; others do not get it again. Input that could not be mapped is mapped with the current mapping.
     *
     * Needs the scope `receive`. */
    replay: Call<DeliveriesReplayParams, DeliveriesReplayResult>;
    /** Replay many dead letters.
     *
     * Exactly one of `ids` and `reason` (the exact `dlq_reason`). At most 10,000 per request: `more` is true if others are left.
     *
     * Needs the scope `receive`. */
    replayMany: Call<DeliveriesReplayManyParams, DeliveriesReplayManyResult>;
    /** Delete a dead letter.
     *
     * Needs the scope `receive`. */
    discard: Call<DeliveriesDiscardParams, DeliveriesDiscardResult>;
    /** Count deliveries by state.
     *
     * The caller's. For admins the tenant's, with one row per agent on the page; `oldest_age_seconds` is then the oldest of these agents.
     *
     * Needs the scope `receive`. */
    stats: Call<DeliveriesStatsParams, DeliveriesStatsResult>;
  };
  devices: {
    /** Issue a code that connects a device to an agent.
     *
     * For the agent itself, its owner, or with the scope `admin`. The code is valid for 10 minutes; a newer code for the same agent replaces a pending one. */
    issue: Call<DevicesIssueParams, DevicesIssueResult>;
    /** Read the status of an agent's newest device code.
     *
     * For the agent itself, its owner, or with the scope `admin`. Never shows an API key. */
    status: Call<DevicesStatusParams, DevicesStatusResult>;
    /** Claim a code from the device.
     *
     * The code is the credential. Wrong, used, denied and expired codes return the same 404. All claims and lookups of an address share a limit of `DEVICE_CLAIMS_PER_HOUR`. */
    claim: Call<DevicesClaimParams, DevicesClaimResult>;
    /** Approve or reject the device that claimed a code.
     *
     * For the agent's owner and org admins. Only org admins can approve a code with the scope `admin`. */
    confirm: Call<DevicesConfirmParams, DevicesConfirmResult>;
    /** Fetch the API key of an approved claim, once.
     *
     * The claim is the credential. Returns 409 `conflict` before approval, and the same 404 after denial, expiry or a first fetch. The key is shown only here. */
    complete: Call<DevicesCompleteParams, DevicesCompleteResult>;
    /** Read the agent of a device code.
     *
     * Denied, expired and unknown codes return 404. With a token the scopes are shown too, and anybody but the agent itself, its owner and admins gets the same 404. All claims and lookups of an address share a limit of `DEVICE_CLAIMS_PER_HOUR`. */
    lookUp: Call<DevicesLookUpParams, DevicesLookUpResult>;
  };
  documents: {
    /** Upload a document.
     *
     * The document is then parsed, chunked and indexed; `status` shows the progress. The same bytes in the same source return the existing document (200). Other bytes under the same filename supersede it once they are stored. Without write permission: 200 with `accepted: false`.
     *
     * Needs the scope `memory:write`. */
    upload: Call<DocumentsUploadParams, DocumentsUploadResult>;
    /** List documents, newest first.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<DocumentsListParams, DocumentsListResult, DocumentsListResult["documents"][number]>;
    /** Read a document's metadata.
     *
     * Needs the scope `memory:read`. */
    get: Call<DocumentsGetParams, DocumentsGetResult>;
    /** List the chunks of a document in order.
     *
     * Needs the scope `memory:read`. */
    listChunks: PagedCall<DocumentsListChunksParams, DocumentsListChunksResult, DocumentsListChunksResult["chunks"][number]>;
    /** Delete a document and its chunks.
     *
     * Only for the uploader and admins. Unknown documents return `deleted: false`.
     *
     * Needs the scope `memory:write`. */
    delete: Call<DocumentsDeleteParams, DocumentsDeleteResult>;
    /** Search document chunks by words and by meaning.
     *
     * Only stored documents that the caller may read; superseded ones are not searched.
     *
     * Needs the scope `memory:read`. */
    search: Call<DocumentsSearchParams, DocumentsSearchResult>;
  };
  events: {
    /** Publish an event.
     *
     * CloudEvents structured mode (`application/cloudevents+json` or `application/json`), binary mode (`ce-*` headers) or batch mode (`application/cloudevents-batch+json`: at most 100 events and 10 MB, where one bad event does not refuse the rest). 202 means that the event is durable. The types `service.*` and `memory.cited` are the service's own.
     *
     * Needs the scope `send`. */
    publish: Call<EventsPublishParams, EventsPublishResult>;
    /** List events, newest first.
     *
     * A caller with `send` sees events that it published, an agent with `receive` those delivered to it, an admin all. A page may hold fewer events than asked for and still have a `next_cursor`: a request returns at most 4 MB and scans some 200,000 events, or stops after two seconds without a match. */
    list: PagedCall<EventsListParams, EventsListResult, EventsListResult["events"][number]>;
    /** Read an event and its deliveries. */
    get: Call<EventsGetParams, EventsGetResult>;
    /** Retry the fan-out of a parked event.
     *
     * Needs the scope `admin`. */
    retry: Call<EventsRetryParams, EventsRetryResult>;
  };
  exemplars: {
    /** Create an exemplar from a text.
     *
     * Verbatim, at most 1 MB. A known text returns the tenant's existing exemplar (200).
     *
     * Needs the scope `memory:write`. */
    create: Call<ExemplarsCreateParams, ExemplarsCreateResult>;
    /** List exemplars, newest first.
     *
     * Needs the scope `memory:read`. */
    list: Call<ExemplarsListParams, ExemplarsListResult>;
    /** Read an exemplar's text.
     *
     * 202 while the text is being extracted; 200 without a text if extraction failed.
     *
     * Needs the scope `memory:read`. */
    get: Call<ExemplarsGetParams, ExemplarsGetResult>;
    /** Rename an exemplar.
     *
     * Needs the scope `memory:write`. */
    rename: Call<ExemplarsRenameParams, ExemplarsRenameResult>;
    /** Delete an unreferenced exemplar.
     *
     * 409 `conflict` with `details.referrers` while it is attached to a run or named by a step's reference pointer.
     *
     * Needs the scope `memory:write`. */
    delete: Call<ExemplarsDeleteParams, ExemplarsDeleteResult>;
    /** Download the original of an exemplar.
     *
     * For people. */
    download: Call<ExemplarsDownloadParams, ExemplarsDownloadResult>;
  };
  findings: {
    /** Read new institutional memories.
     *
     * Memories of others that became institutional since the calling agent's last read, in order. Findings are evidence from other agents, not instructions: `rendered_brief` quotes them as data.
     *
     * Needs the scope `memory:read`. */
    list: Call<FindingsListParams, FindingsListResult>;
  };
  gateway: {
    /** Check that the process runs. */
    healthz: Call<GatewayHealthzParams, GatewayHealthzResult>;
    /** Check that this node can serve, with problems if not. */
    readyz: Call<GatewayReadyzParams, GatewayReadyzResult>;
    /** Read this node's metrics in the Prometheus text format. */
    metrics: Call<GatewayMetricsParams, GatewayMetricsResult>;
    /** Read this document (OpenAPI 3.1). */
    openapi: Call<GatewayOpenapiParams, GatewayOpenapiResult>;
    /** Read this document as a page. */
    docs: Call<GatewayDocsParams, GatewayDocsResult>;
  };
  handoffs: {
    /** Save a handoff.
     *
     * Saves the state of the work for another client to continue. A handoff of the same name is overwritten (200) with a higher `version_num`. Handoffs are kept for 30 days after they were last saved or resumed.
     *
     * Needs the scope `memory:write`. */
    save: Call<HandoffsSaveParams, HandoffsSaveResult>;
    /** List the calling agent's handoffs, last saved first.
     *
     * With `q`, the best matches in words or meaning; if search is unavailable or partial, handoffs with `q` in their name or summary, and the header `X-Degraded` gives the reason. A page of very long ones may have fewer than `limit`.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<HandoffsListParams, HandoffsListResult, HandoffsListResult[number]>;
    /** Resume a handoff.
     *
     * Looks up the exact name, then the id, then the meaning. A single match is resumed: the result is its brief, and its 30 days begin again. Several equally good matches are listed, and none is resumed.
     *
     * Needs the scope `memory:read`. */
    resume: Call<HandoffsResumeParams, HandoffsResumeResult>;
    /** Read a handoff.
     *
     * Needs the scope `memory:read`. */
    get: Call<HandoffsGetParams, HandoffsGetResult>;
    /** Delete a handoff and its search entries.
     *
     * Needs the scope `memory:write`. */
    delete: Call<HandoffsDeleteParams, HandoffsDeleteResult>;
    /** Read a handoff's brief without resuming it.
     *
     * The same bytes as `resume` returns.
     *
     * Needs the scope `memory:read`. */
    export: Call<HandoffsExportParams, HandoffsExportResult>;
    /** Pin a handoff until it is unpinned or deleted.
     *
     * Needs the scope `memory:write`. */
    pin: Call<HandoffsPinParams, HandoffsPinResult>;
    /** Unpin a handoff: it expires in 30 days.
     *
     * Needs the scope `memory:write`. */
    unpin: Call<HandoffsUnpinParams, HandoffsUnpinResult>;
  };
  ingest: {
    /** Create a webhook.
     *
     * A tenant has at most 50.
     *
     * Needs the scope `admin`. */
    createWebhook: Call<IngestCreateWebhookParams, IngestCreateWebhookResult>;
    /** List webhooks, oldest first.
     *
     * Needs the scope `admin`. */
    listWebhooks: PagedCall<IngestListWebhooksParams, IngestListWebhooksResult, IngestListWebhooksResult["webhooks"][number]>;
    /** Rename or remap a webhook.
     *
     * A mapping is replaced as a whole and applies from then on. Requests that the previous one could not map can be replayed from the dead letters.
     *
     * Needs the scope `admin`. */
    updateWebhook: Call<IngestUpdateWebhookParams, IngestUpdateWebhookResult>;
    /** Delete a webhook.
     *
     * Its events stay.
     *
     * Needs the scope `admin`. */
    deleteWebhook: Call<IngestDeleteWebhookParams, IngestDeleteWebhookResult>;
    /** Rotate a webhook's signing secret.
     *
     * For 24 hours, the previous secret is accepted too.
     *
     * Needs the scope `admin`. */
    rotateWebhook: Call<IngestRotateWebhookParams, IngestRotateWebhookResult>;
    /** Test a webhook's mapping with a payload.
     *
     * Publishes nothing and needs no signature.
     *
     * Needs the scope `admin`. */
    testWebhook: Call<IngestTestWebhookParams, IngestTestWebhookResult>;
    /** Deliver a webhook from any source of the tenant.
     *
     * Signed with the secret of a registration: `X-Service-Signature` (or GitHub's `X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without `sha256=` before it; or the headers of Standard Webhooks (`webhook-…`, or `svix-…`), or `Stripe-Signature`, whose timestamps may be 5 minutes off. Unsigned requests get the same 401 at any address. Requests that cannot be mapped are accepted as dead letters. */
    receive: Call<IngestReceiveParams, IngestReceiveResult>;
    /** Deliver a webhook from one source.
     *
     * Signed with the secret of a registration: `X-Service-Signature` (or GitHub's `X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without `sha256=` before it; or the headers of Standard Webhooks (`webhook-…`, or `svix-…`), or `Stripe-Signature`, whose timestamps may be 5 minutes off. Unsigned requests get the same 401 at any address. Requests that cannot be mapped are accepted as dead letters. */
    receiveFrom: Call<IngestReceiveFromParams, IngestReceiveFromResult>;
    /** Request permission to deliver webhooks from any source of the tenant.
     *
     * The handshake of the CloudEvents specification Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is answered with `WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the requested `WebHook-Request-Rate`, or `*`). Registered and unregistered addresses answer alike: deliveries must be signed anyway. A `WebHook-Request-Callback` is not called. */
    validate: Call<IngestValidateParams, IngestValidateResult>;
    /** Request permission to deliver webhooks from one source.
     *
     * The handshake of the CloudEvents specification Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is answered with `WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the requested `WebHook-Request-Rate`, or `*`). Registered and unregistered addresses answer alike: deliveries must be signed anyway. A `WebHook-Request-Callback` is not called. */
    validateFor: Call<IngestValidateForParams, IngestValidateForResult>;
  };
  interests: {
    /** Create an interest.
     *
     * Events match when both the type glob and the filter hold. A filter that does not compile is `validation_error` with `details.position`. Agents and organisations have a limit (`MAX_INTERESTS_PER_AGENT`, `MAX_INTERESTS_PER_TENANT`), reported as rule `interest_limit`.
     *
     * Needs the scope `receive`. */
    create: Call<InterestsCreateParams, InterestsCreateResult>;
    /** List an agent's interests, oldest first.
     *
     * Needs the scope `receive`. */
    list: PagedCall<InterestsListParams, InterestsListResult, InterestsListResult["interests"][number]>;
    /** Read an interest.
     *
     * Needs the scope `receive`. */
    get: Call<InterestsGetParams, InterestsGetResult>;
    /** Update an interest.
     *
     * The change applies to events published after the response. A filter that does not compile is `validation_error` with `details.position`.
     *
     * Needs the scope `receive`. */
    update: Call<InterestsUpdateParams, InterestsUpdateResult>;
    /** Delete an interest.
     *
     * Events matched before are still delivered.
     *
     * Needs the scope `receive`. */
    delete: Call<InterestsDeleteParams, InterestsDeleteResult>;
    /** Test an interest on recent events.
     *
     * Runs a candidate against the tenant's last 100 events (fewer if they are large) and saves nothing.
     *
     * Needs the scope `receive`. */
    test: Call<InterestsTestParams, InterestsTestResult>;
  };
  keys: {
    /** Create an API key for an agent.
     *
     * The key is shown only here.
     *
     * Needs the scope `admin`. */
    create: Call<KeysCreateParams, KeysCreateResult>;
    /** List an agent's API keys, newest first.
     *
     * Revoked keys are not listed.
     *
     * Needs the scope `admin`. */
    list: PagedCall<KeysListParams, KeysListResult, KeysListResult["keys"][number]>;
    /** Revoke an API key.
     *
     * Tokens created with it are refused within 5 seconds.
     *
     * Needs the scope `admin`. */
    revoke: Call<KeysRevokeParams, KeysRevokeResult>;
  };
  live: {
    /** Read the organisation's event traffic.
     *
     * Counts of the last 15 minutes, over all running nodes. `deliveries`, `storage` and `recent` are for admins; other callers get null and an empty list. */
    stats: Call<LiveStatsParams, LiveStatsResult>;
    /** Stream the event traffic as server-sent events.
     *
     * `event: stats` has the data of `GET /stats`, at once and then every 2 seconds. `event: changed` has `{resource, ids}` and follows changes of runs, documents, devices and connectors; `ids` lists runs only and is empty when many changed. When a node dies, some changes may not be reported. */
    watch: StreamCall<LiveWatchParams>;
  };
  memories: {
    /** Erase memories permanently.
     *
     * For data-protection requests: exactly one of `agent_id`, `ids` and `subject`. Erases memories of any scope and status with their vectors, relationships and other data; by `subject` also the documents uploaded about it, with their files and chunks, and the memories derived from these. The response follows when the bytes are gone from the service's files; an erasure interrupted by a crash is finished. `receipt` is a JWS of the service (`/.well-known/jwks.json`). `dry_run` only counts. Repeat the request to erase the rest.
     *
     * Needs the scope `memory:write`. */
    erase: Call<MemoriesEraseParams, MemoriesEraseResult>;
    /** List memories.
     *
     * Active memories that the caller may read: not the expired, forgotten, superseded or merged. A page of very long ones may hold fewer than `limit`; continue with `next_cursor`.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<MemoriesListParams, MemoriesListResult, MemoriesListResult["memories"][number]>;
    /** Create a memory.
     *
     * It can be found by its text immediately.
     *
     * Needs the scope `memory:write`. */
    create: Call<MemoriesCreateParams, MemoriesCreateResult>;
    /** Create many memories.
     *
     * Each is independent: a refused memory does not affect the others. Results are in order.
     *
     * Needs the scope `memory:write`. */
    createBatch: Call<MemoriesCreateBatchParams, MemoriesCreateBatchResult>;
    /** Read a memory.
     *
     * Forgotten and expired memories can be read only by their owner, until they are purged.
     *
     * Needs the scope `memory:read`. */
    get: Call<MemoriesGetParams, MemoriesGetResult>;
    /** Update a memory.
     *
     * Omitted fields stay; null clears a field. Only for the owner and org admins.
     *
     * Needs the scope `memory:write`. */
    update: Call<MemoriesUpdateParams, MemoriesUpdateResult>;
    /** Promote a memory to a wider scope.
     *
     * From agent to team or institution, or from team to institution. Only for the owner and org admins.
     *
     * Needs the scope `memory:write`. */
    promote: Call<MemoriesPromoteParams, MemoriesPromoteResult>;
    /** Forget a memory.
     *
     * It can no longer be found, and is purged after the reversibility window. Memories that it superseded stay superseded. Only for the owner and org admins. Repeating it returns the same answer.
     *
     * Needs the scope `memory:write`. */
    forget: Call<MemoriesForgetParams, MemoriesForgetResult>;
    /** Restore a forgotten memory.
     *
     * Within the reversibility window, to its previous status. Only for the owner and org admins.
     *
     * Needs the scope `memory:write`. */
    restore: Call<MemoriesRestoreParams, MemoriesRestoreResult>;
    /** Supersede a memory by another.
     *
     * Only for the owner of the superseded memory and org admins. The successor must be at least as visible, and neither may be superseded or forgotten.
     *
     * Needs the scope `memory:write`. */
    supersede: Call<MemoriesSupersedeParams, MemoriesSupersedeResult>;
    /** Read the lineage of a memory.
     *
     * Needs the scope `memory:read`. */
    lineage: Call<MemoriesLineageParams, MemoriesLineageResult>;
    /** Search memories by words and by meaning.
     *
     * The memories that the caller may read and that fit the query best; near-ties rank agent, then team, then institutional. If the query's vectors are late, only words count and the result is `degraded`.
     *
     * Needs the scope `memory:read`. */
    search: Call<MemoriesSearchParams, MemoriesSearchResult>;
    /** Cite a memory as useful.
     *
     * One citation counts per caller, memory and day (UTC). Citations by others than the owner raise the memory's rank for 30 days. Published as `memory.cited`.
     *
     * Needs the scope `memory:read`. */
    cite: Call<MemoriesCiteParams, MemoriesCiteResult>;
    /** List the document passages that a memory comes from.
     *
     * Only documents that the caller may read.
     *
     * Needs the scope `memory:read`. */
    citations: Call<MemoriesCitationsParams, MemoriesCitationsResult>;
    /** Read an agent's citations of the last 30 days, and those of its memories.
     *
     * For the agent itself, the person who owns it, and admins. Newest first.
     *
     * Needs the scope `memory:read`. */
    activity: PagedCall<MemoriesActivityParams, MemoriesActivityResult, MemoriesActivityResult["activity"][number]>;
    /** Read the health of the memories that the caller may read.
     *
     * Covers at most the 100,000 memories that changed last.
     *
     * Needs the scope `memory:read`. */
    health: Call<MemoriesHealthParams, MemoriesHealthResult>;
  };
  merges: {
    /** Propose to merge two memories.
     *
     * The caller must be able to read both. Two memories have at most one open proposal: the service's becomes the caller's.
     *
     * Needs the scope `memory:write`. */
    propose: Call<MergesProposeParams, MergesProposeResult>;
    /** List merge proposals, newest first.
     *
     * Proposals whose memories the caller may both read; for org admins, who decide, all.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<MergesListParams, MergesListResult, MergesListResult["merge_proposals"][number]>;
    /** Read a merge proposal.
     *
     * Needs the scope `memory:read`. */
    get: Call<MergesGetParams, MergesGetResult>;
    /** Merge two memories.
     *
     * The other memory gets the status `merged`; the surviving one may get new content. It must be at least as visible as the other, else 422, rule `scope_only_widens`.
     *
     * Needs the scope `memory:write`. */
    resolve: Call<MergesResolveParams, MergesResolveResult>;
    /** Reject a merge proposal.
     *
     * Needs the scope `memory:write`. */
    reject: Call<MergesRejectParams, MergesRejectResult>;
  };
  onboarding: {
    /** Read the next steps to try.
     *
     * A step is done once anybody in the organisation has done it, and stays done. */
    get: Call<OnboardingGetParams, OnboardingGetResult>;
    /** Dismiss the guidance.
     *
     * For the person, or the owner of the agent. Repeating it changes nothing. */
    dismiss: Call<OnboardingDismissParams, OnboardingDismissResult>;
  };
  outputs: {
    /** Download an output as a file.
     *
     * For people. The current version: `md` as saved, `html` without active content; `pdf` and `docx` if the operator enables them (otherwise 404). */
    export: Call<OutputsExportParams, OutputsExportResult>;
    /** Send an output by e-mail.
     *
     * For people. The mail contains the text; `attach_format` also attaches it as a file. 404 if the operator has disabled e-mail, 503 if no mail server is configured. */
    email: Call<OutputsEmailParams, OutputsEmailResult>;
    /** Save an output, or a new version of one.
     *
     * The text is kept byte for byte and may have any length. With `output_id` a new version is saved: given fields replace the existing ones, and earlier versions do not change. As `text/markdown` the body is the text, and the other fields go into the query.
     *
     * Needs the scope `memory:write`. */
    save: Call<OutputsSaveParams, OutputsSaveResult>;
    /** List outputs.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<OutputsListParams, OutputsListResult, OutputsListResult["outputs"][number]>;
    /** Read an output.
     *
     * With `version`, the text and title of that version.
     *
     * Needs the scope `memory:read`. */
    get: Call<OutputsGetParams, OutputsGetResult>;
    /** Change an output's project or tags.
     *
     * Null removes the project. Only people can set tags.
     *
     * Needs the scope `memory:write`. */
    update: Call<OutputsUpdateParams, OutputsUpdateResult>;
    /** Delete an output with all its versions.
     *
     * For its owner and admins.
     *
     * Needs the scope `memory:write`. */
    delete: Call<OutputsDeleteParams, OutputsDeleteResult>;
    /** List an output's versions, newest first.
     *
     * Needs the scope `memory:read`. */
    listVersions: Call<OutputsListVersionsParams, OutputsListVersionsResult>;
    /** Read a version of an output.
     *
     * Needs the scope `memory:read`. */
    getVersion: Call<OutputsGetVersionParams, OutputsGetVersionResult>;
    /** Search outputs by words and by meaning.
     *
     * Each output once, with its best passage. Superseded outputs are included on request, ranked below their successors; those of archived projects only on request.
     *
     * Needs the scope `memory:read`. */
    search: Call<OutputsSearchParams, OutputsSearchResult>;
  };
  projects: {
    /** List projects, by key.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<ProjectsListParams, ProjectsListResult, ProjectsListResult["projects"][number]>;
    /** Create a project.
     *
     * Needs the scope `admin`. */
    create: Call<ProjectsCreateParams, ProjectsCreateResult>;
    /** Rename, date, complete or archive a project.
     *
     * Needs the scope `admin`. */
    update: Call<ProjectsUpdateParams, ProjectsUpdateResult>;
  };
  relationships: {
    /** Create a relationship between two memories.
     *
     * An edge of each type exists at most once: a repetition is `conflict`.
     *
     * Needs the scope `memory:write`. */
    create: Call<RelationshipsCreateParams, RelationshipsCreateResult>;
    /** List the relationships of a memory, both directions, oldest first.
     *
     * One hop. Only those whose other memory the caller may read and that is neither forgotten nor expired. `SUPERSEDES`, `DERIVED_FROM` and other types in capitals are recorded by the service.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<RelationshipsListParams, RelationshipsListResult, RelationshipsListResult["relationships"][number]>;
    /** Delete a relationship.
     *
     * For its creator, the owner of its source memory, and org admins. Relationships recorded by the service stay.
     *
     * Needs the scope `memory:write`. */
    delete: Call<RelationshipsDeleteParams, RelationshipsDeleteResult>;
    /** Read the graph around a memory.
     *
     * Needs the scope `memory:read`. */
    graph: Call<RelationshipsGraphParams, RelationshipsGraphResult>;
    /** List relationship types.
     *
     * Needs the scope `memory:read`. */
    types: Call<RelationshipsTypesParams, RelationshipsTypesResult>;
  };
  runs: {
    /** Register an artifact of a run.
     *
     * The pointer is stored, never followed. `step_record_id`: the attempt, completion, skip or reopening it belongs to. A run has at most 1000 artifacts: more are 422, rule `run_limit`.
     *
     * Needs the scope `memory:write`. */
    registerArtifact: Call<RunsRegisterArtifactParams, RunsRegisterArtifactResult>;
    /** List a run's artifacts, oldest first.
     *
     * Needs the scope `memory:read`. */
    listArtifacts: PagedCall<RunsListArtifactsParams, RunsListArtifactsResult, RunsListArtifactsResult["artifacts"][number]>;
    /** Attach an exemplar to a run.
     *
     * Attached exemplars cannot be deleted. Attaching one again changes nothing.
     *
     * Needs the scope `memory:write`. */
    attachExemplar: Call<RunsAttachExemplarParams, RunsAttachExemplarResult>;
    /** Offer a step's result to its successors.
     *
     * A run has at most 1000 offers, with 4 MB of notes: more are 422, rule `run_limit`.
     *
     * Needs the scope `memory:write`. */
    offerHandoff: Call<RunsOfferHandoffParams, RunsOfferHandoffResult>;
    /** List a run's handoff offers, oldest first.
     *
     * Needs the scope `memory:read`. */
    listOffers: Call<RunsListOffersParams, RunsListOffersResult>;
    /** Accept an offer.
     *
     * Completes the offering step and opens an attempt on an unfinished successor: the one assigned to the caller (for agents: to the owner), else the first unassigned one. 403 `forbidden` if all are assigned to other people. `attempt` is null while the successor waits for other steps.
     *
     * Needs the scope `memory:write`. */
    acceptOffer: Call<RunsAcceptOfferParams, RunsAcceptOfferResult>;
    /** Decline an offer.
     *
     * Needs the scope `memory:write`. */
    declineOffer: Call<RunsDeclineOfferParams, RunsDeclineOfferResult>;
    /** Create a run.
     *
     * From a template, whose steps are copied, or from given steps. `step_assignments` are allowed only with a template. After 10000 changes a run can only be closed: further changes are 422, rule `run_limit`. So are notes and evidence beyond 4 MB over all steps.
     *
     * Needs the scope `memory:write`. */
    create: Call<RunsCreateParams, RunsCreateResult>;
    /** List the tenant's runs, newest first.
     *
     * All runs of the tenant as a bare array. With `limit`, a page, which may have fewer if runs are long: continue with `offset` until the header `X-Total-Count`.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<RunsListParams, RunsListResult, RunsListResult[number]>;
    /** Read a run, its steps and their attempts.
     *
     * Needs the scope `memory:read`. */
    get: Call<RunsGetParams, RunsGetResult>;
    /** Read a run's progress and the caller's next step.
     *
     * `my_next`: the first ready step assigned to the caller (for agents: to the owner), else the first unassigned one.
     *
     * Needs the scope `memory:read`. */
    position: Call<RunsPositionParams, RunsPositionResult>;
    /** Close a run with an outcome.
     *
     * Its steps can no longer change. A closed run is 409 `conflict`.
     *
     * Needs the scope `memory:write`. */
    close: Call<RunsCloseParams, RunsCloseResult>;
    /** Read the times and evidence of a closed run's steps.
     *
     * `elapsed_seconds` from ready to done, `active_seconds` while in progress; null if a step did not get that far. Reopened steps count each time. An open run is 409 `conflict`.
     *
     * Needs the scope `memory:read`. */
    retrospective: Call<RunsRetrospectiveParams, RunsRetrospectiveResult>;
    /** List the completed steps, in order of completion.
     *
     * Needs the scope `memory:read`. */
    history: Call<RunsHistoryParams, RunsHistoryResult>;
    /** Read a run as a Markdown document.
     *
     * Identical bytes as long as the run does not change.
     *
     * Needs the scope `memory:read`. */
    statusDocument: Call<RunsStatusDocumentParams, RunsStatusDocumentResult>;
    /** Start a step.
     *
     * Not exclusive: several attempts may be open at once, and later ones get a `warning`. 409 `step_not_ready` while a dependency is unfinished or reopened.
     *
     * Needs the scope `memory:write`. */
    startStep: Call<RunsStartStepParams, RunsStartStepResult>;
    /** Complete a step, or attest one of its criteria.
     *
     * With `criterion_key`, one criterion is attested; the last one completes the step, and until then `completed_step_key` is null. `artifact_contents` stores the content of registered artifacts.
     *
     * Needs the scope `memory:write`. */
    completeStep: Call<RunsCompleteStepParams, RunsCompleteStepResult>;
    /** Skip a step.
     *
     * Dependent steps no longer wait for it.
     *
     * Needs the scope `memory:write`. */
    skipStep: Call<RunsSkipStepParams, RunsSkipStepResult>;
    /** Reopen a completed or skipped step.
     *
     * Ready successors are blocked again; those further on are reported and do not change. A completed run becomes active again.
     *
     * Needs the scope `memory:write`. */
    reopenStep: Call<RunsReopenStepParams, RunsReopenStepResult>;
    /** Assign a step to a person.
     *
     * Null unassigns it. Open attempts and the completion mode do not change. Repeating an assignment changes nothing.
     *
     * Needs the scope `memory:write`. */
    assignStep: Call<RunsAssignStepParams, RunsAssignStepResult>;
  };
  sessions: {
    /** List an agent's connected devices, most recent first.
     *
     * For the agent itself, its owner, or with the scope `admin`. Devices whose key is revoked are removed `SESSION_RETENTION_DAYS` after they were last seen. */
    list: Call<SessionsListParams, SessionsListResult>;
    /** Disconnect a device.
     *
     * Revokes its key: its tokens are refused within 5 seconds.
     *
     * Needs the scope `admin`. */
    delete: Call<SessionsDeleteParams, SessionsDeleteResult>;
    /** Report that a device is alive.
     *
     * With a token of the session's key; at most once a minute. */
    heartbeat: Call<SessionsHeartbeatParams, SessionsHeartbeatResult>;
  };
  specialists: {
    /** Write a specialist's next version.
     *
     * Earlier versions do not change.
     *
     * Needs the scope `admin`. */
    write: Call<SpecialistsWriteParams, SpecialistsWriteResult>;
    /** List specialists by name.
     *
     * Needs the scope `memory:read`. */
    list: Call<SpecialistsListParams, SpecialistsListResult>;
    /** Load a specialist's latest version.
     *
     * If the specialist does not exist or is unavailable, the result has `error`; it is not an HTTP error.
     *
     * Needs the scope `memory:read`. */
    load: Call<SpecialistsLoadParams, SpecialistsLoadResult>;
    /** Unload a specialist.
     *
     * Bookkeeping only: instructions already in a conversation stay there. Repeating it changes nothing.
     *
     * Needs the scope `memory:read`. */
    unload: Call<SpecialistsUnloadParams, SpecialistsUnloadResult>;
    /** List a specialist's versions, newest first.
     *
     * A page of long versions may have fewer than `limit`: continue with `offset` until `total`.
     *
     * Needs the scope `memory:read`. */
    versions: PagedCall<SpecialistsVersionsParams, SpecialistsVersionsResult, SpecialistsVersionsResult["versions"][number]>;
  };
  teams: {
    /** Create a team.
     *
     * Needs the scope `admin`. */
    create: Call<TeamsCreateParams, TeamsCreateResult>;
    /** List teams by name.
     *
     * Needs the scope `admin`. */
    list: PagedCall<TeamsListParams, TeamsListResult, TeamsListResult["teams"][number]>;
  };
  templates: {
    /** Create a process template, or a new version of one.
     *
     * An existing slug gets a new version; earlier ones do not change. `goal_template` is a description: nothing in it is substituted.
     *
     * Needs the scope `memory:write`. */
    author: Call<TemplatesAuthorParams, TemplatesAuthorResult>;
    /** List the latest version of every process template, by slug.
     *
     * Needs the scope `memory:read`. */
    list: Call<TemplatesListParams, TemplatesListResult>;
    /** Read a process template.
     *
     * The latest version, or the given one. Runs are created from its `id`.
     *
     * Needs the scope `memory:read`. */
    get: Call<TemplatesGetParams, TemplatesGetResult>;
  };
  tenants: {
    /** Create a tenant with its first admin and agent.
     *
     * The password and the key are shown only here. */
    create: Call<TenantsCreateParams, TenantsCreateResult>;
    /** List tenants. */
    list: PagedCall<TenantsListParams, TenantsListResult, TenantsListResult["tenants"][number]>;
    /** Suspend or activate a tenant, or change its storage quota.
     *
     * The tokens of a suspended tenant are refused within 5 seconds; its data is kept. A tenant over its quota can read, delete and acknowledge; requests that would store more get `422 business_rule_violation`, rule `storage_quota`. */
    update: Call<TenantsUpdateParams, TenantsUpdateResult>;
    /** Erase a tenant and all its data.
     *
     * Irreversible; the data is removed from the service's files too. Returns a receipt, signed as a JWT with the service's token key (see /.well-known/jwks.json). Repeat the request to finish an interrupted erasure. */
    erase: Call<TenantsEraseParams, TenantsEraseResult>;
    /** Read the organisation's limits.
     *
     * The installation's settings, the same for every tenant except `storage`. See `X-RateLimit-*` for the rest of a rate. */
    limits: Call<TenantsLimitsParams, TenantsLimitsResult>;
  };
  users: {
    /** Invite a person.
     *
     * Without a password, one is generated and returned once.
     *
     * Needs the scope `admin`. */
    create: Call<UsersCreateParams, UsersCreateResult>;
    /** List people, oldest first.
     *
     * Needs the scope `admin`. */
    list: PagedCall<UsersListParams, UsersListResult, UsersListResult["users"][number]>;
    /** Rename or disable a person, or change the role or password.
     *
     * Disabling a person or resetting the password revokes the person's tokens within 5 seconds. Nobody can disable or demote themselves, so an organisation keeps an admin.
     *
     * Needs the scope `admin`. */
    update: Call<UsersUpdateParams, UsersUpdateResult>;
  };
}

/** The codes of errors. */
export type FaultCode =
| "validation_failed"
| "validation_error"
| "invalid_event"
| "authentication_failed"
| "insufficient_scope"
| "forbidden"
| "not_found"
| "method_not_allowed"
| "conflict"
| "step_not_ready"
| "step_not_completable"
| "step_not_skippable"
| "step_not_reopenable"
| "payload_too_large"
| "unsupported_media_type"
| "business_rule_violation"
| "rate_limited"
| "internal_error"
| "service_unavailable";

export interface AgentsCreateParams {
  name: string;
  delivery_mode: "poll" | "push" | "sse";
  description?: string | null;
  delivery_endpoint?: string | null;
  /** CloudEvents mode of pushes: `structured` (default) has the whole event as the body, `binary` its data, with the attributes in `ce-…` headers. An event whose attributes don't fit into headers (over 8 KB, or enriched) is pushed in structured mode. */
  push_format?: "structured" | "binary";
  team_id?: string | null;
  owner_user_id?: string | null;
  visibility_timeout_seconds?: number | null;
  retry_budget?: number | null;
}

export interface AgentsCreateResult {
  id: string;
  tenant_id: string;
  name: string;
  status: "active" | "inactive";
  delivery_mode: "poll" | "push" | "sse";
  description: string | null;
  delivery_endpoint: string | null;
  /** CloudEvents mode of pushes: `structured` (default) has the whole event as the body, `binary` its data, with the attributes in `ce-…` headers. An event whose attributes don't fit into headers (over 8 KB, or enriched) is pushed in structured mode. */
  push_format: "structured" | "binary";
  team_id: string | null;
  owner_user_id: string | null;
  visibility_timeout_seconds: number | null;
  retry_budget: number | null;
  /** The endpoint answered 410 Gone; setting an endpoint resumes pushes. */
  push_stopped: boolean;
  created_at: string;
  updated_at: string;
  /** Signs pushes (Standard Webhooks). Shown only once. */
  signing_secret: string;
}

export interface AgentsListParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
  status?: "active" | "inactive";
  /** Part of the name or the description, in any case. */
  search?: string;
}

export interface AgentsListResult {
  agents: Array<Agent>;
  total: number;
}

export interface AgentsListOwnParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface AgentsListOwnResult {
  agents: Array<Agent>;
  total: number;
}

export interface AgentsGetParams {
  agent_id: string;
}

export type AgentsGetResult = Agent;

export interface AgentsUpdateParams {
  agent_id: string;
  name?: string;
  delivery_mode?: "poll" | "push" | "sse";
  description?: string | null;
  delivery_endpoint?: string | null;
  /** CloudEvents mode of pushes: `structured` (default) has the whole event as the body, `binary` its data, with the attributes in `ce-…` headers. An event whose attributes don't fit into headers (over 8 KB, or enriched) is pushed in structured mode. */
  push_format?: "structured" | "binary";
  team_id?: string | null;
  owner_user_id?: string | null;
  visibility_timeout_seconds?: number | null;
  retry_budget?: number | null;
}

export type AgentsUpdateResult = Agent;

export interface AgentsSetStatusParams {
  agent_id: string;
  status: "active" | "inactive";
}

export type AgentsSetStatusResult = Agent;

export interface AgentsRotateSigningSecretParams {
  agent_id: string;
}

export interface AgentsRotateSigningSecretResult {
  /** Signs pushes (Standard Webhooks). Shown only once. */
  signing_secret: string;
  previous_ends_at: string;
}

export interface AuditListParams {
  action?: string;
  actor_id?: string;
  resource_type?: string;
  resource_id?: string;
  outcome?: "begun" | "done" | "refused" | "failed";
  /** The earliest `at`. */
  since?: string;
  /** The end of `at`, exclusive. */
  until?: string;
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface AuditListResult {
  entries: Array<AuditEntry>;
  next_cursor: string | null;
}

export interface AuthTokenParams {
  api_key: string;
}

export interface AuthTokenResult {
  /** A JWT (ES256), valid for one hour. */
  access_token: string;
  token_type: "Bearer";
  expires_at: string;
  /** Seconds until `expires_at`. */
  expires_in: number;
  /** The scopes of the key. */
  scope: string;
  agent: {
    id: string;
    name: string;
    team: string | null;
    tenant_id: string;
  };
}

export interface AuthLoginParams {
  email: string;
  password: string;
  tenant_slug?: string;
}

export interface AuthLoginResult {
  /** A JWT (ES256), valid for one hour. */
  access_token: string;
  token_type: "Bearer";
  expires_at: string;
  user: {
    id: string;
    display_name: string;
    role: "admin" | "member";
    tenant_id: string;
  };
}

export type AuthMeParams = Record<never, never>;

export interface AuthMeResult {
  kind: "agent" | "user";
  agent?: Agent;
  user?: {
    id: string;
    display_name: string;
    role: "admin" | "member";
    tenant_id: string;
    email: string;
  };
  tenant: {
    id: string;
    slug: string;
    name: string;
  };
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  expires_at: string | null;
}

export type AuthLogoutParams = Record<never, never>;

export type AuthLogoutResult = undefined;

export interface AuthPasswordParams {
  current_password: string;
  new_password: string;
}

export interface AuthPasswordResult {
  /** A JWT (ES256), valid for one hour. */
  access_token: string;
  token_type: "Bearer";
  expires_at: string;
  user: {
    id: string;
    display_name: string;
    role: "admin" | "member";
    tenant_id: string;
  };
}

export interface AuthStartSessionParams {
  email: string;
  password: string;
  tenant_slug?: string;
}

export type AuthStartSessionResult = BrowserSession;

export type AuthSessionParams = Record<never, never>;

export type AuthSessionResult = BrowserSession;

export type AuthRenewSessionParams = Record<never, never>;

export type AuthRenewSessionResult = BrowserSession;

export type AuthEndSessionParams = Record<never, never>;

export type AuthEndSessionResult = undefined;

export type AuthJwksParams = Record<never, never>;

export interface AuthJwksResult {
  keys: Array<{
    kty: "EC";
    crv: "P-256";
    x: string;
    y: string;
    kid: string;
    use: "sig";
    alg: "ES256";
  }>;
}

export interface BundlesAssembleParams {
  query?: string | null;
  /** The earliest `created_at` of an item. */
  since?: string;
  /** The end of `created_at`, exclusive. */
  until?: string;
  project_id?: string | null;
  /** The memories to use. `ascending`: all; near-ties rank agent, then team. */
  memory_scope?: "ascending" | "agent" | "team" | "institutional";
  /** Maximum items of each kind; 0: none. */
  caps?: {
    memories?: number;
    outputs?: number;
    handoffs?: number;
  };
}

export type BundlesAssembleResult = Bundle;

export interface BundlesGetParams {
  id: string;
}

export type BundlesGetResult = Bundle;

export interface BundlesBriefParams {
  id: string;
}

export type BundlesBriefResult = string;

export interface ChannelsCreateParams {
  name: string;
  description?: string | null;
}

export type ChannelsCreateResult = Channel;

export interface ChannelsListParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
  /** Part of the name or the description, in any case. */
  search?: string;
  /** The channel that has this feed. */
  feed_id?: string;
}

export interface ChannelsListResult {
  channels: Array<Channel>;
  total: number;
}

export interface ChannelsGetParams {
  channel_id: string;
}

export type ChannelsGetResult = Channel;

export interface ChannelsUpdateParams {
  channel_id: string;
  name?: string;
  description?: string | null;
}

export type ChannelsUpdateResult = Channel;

export interface ChannelsDeleteParams {
  channel_id: string;
}

export type ChannelsDeleteResult = undefined;

export interface ChannelsAddMemberParams {
  channel_id: string;
  /** Default: the calling agent. */
  agent_id?: string;
}

export type ChannelsAddMemberResult = Member;

export interface ChannelsListMembersParams {
  channel_id: string;
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface ChannelsListMembersResult {
  members: Array<Member>;
  total: number;
}

export interface ChannelsRemoveMemberParams {
  channel_id: string;
  agent_id: string;
}

export type ChannelsRemoveMemberResult = undefined;

export interface ChannelsCreateFeedParams {
  channel_id: string;
  /** Shell-style glob over event types: `*` any run of characters (dots too), `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type_glob: string;
  filter_expression?: string | null;
}

export type ChannelsCreateFeedResult = Feed;

export interface ChannelsListFeedsParams {
  channel_id: string;
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface ChannelsListFeedsResult {
  feeds: Array<Feed>;
  total: number;
}

export interface ChannelsDeleteFeedParams {
  channel_id: string;
  feed_id: string;
}

export type ChannelsDeleteFeedResult = undefined;

export interface ConnectorsCreateParams {
  name: string;
  /** `amqp091`: RabbitMQ. `amqp10`: Azure Service Bus, ActiveMQ Artemis, Qpid, RabbitMQ's plugin. */
  kind: "amqp091" | "amqp10";
  /** `amqp://` or `amqps://`; for `amqp091` its path is the virtual host. */
  url: string;
  /** The queue to consume; it must exist. For `amqp091`. */
  queue?: string;
  /** The source to consume. For `amqp10`. */
  address?: string;
  /** The sender: the second part of the events' type, and the end of the webhook's URL. */
  source: string;
  /** As for webhooks; `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
  mapping: ConnectorMapping;
  /** Maximum unacknowledged messages per node. */
  prefetch?: number;
  /** Whether the connector is paused. */
  paused?: boolean;
}

export type ConnectorsCreateResult = Connector;

export interface ConnectorsListParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface ConnectorsListResult {
  connectors: Array<Connector>;
  total: number;
}

export interface ConnectorsGetParams {
  connector_id: string;
}

export type ConnectorsGetResult = Connector;

export interface ConnectorsUpdateParams {
  connector_id: string;
  name?: string;
  /** As for webhooks; `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
  mapping?: ConnectorMapping;
  /** Maximum unacknowledged messages per node. */
  prefetch?: number;
  /** Whether the connector is paused. */
  paused?: boolean;
}

export type ConnectorsUpdateResult = Connector;

export interface ConnectorsDeleteParams {
  connector_id: string;
}

export type ConnectorsDeleteResult = undefined;

export interface DeliveriesPollParams {
  /** 1..100 */
  limit?: number;
  /** Seconds to wait for a first delivery: 0..30 */
  wait?: number;
}

export interface DeliveriesPollResult {
  deliveries: Array<DeliveryEvent>;
  count: number;
}

export interface DeliveriesAckParams {
  /** At most 100. */
  delivery_ids: Array<string>;
}

export interface DeliveriesAckResult {
  acknowledged: number;
}

export interface DeliveriesNackParams {
  /** At most 100. */
  delivery_ids: Array<string>;
  delay_seconds?: number;
  reason?: string;
}

export interface DeliveriesNackResult {
  /** Deliveries rejected. */
  nacked: number;
  /** Those dead-lettered because their retry budget was spent. */
  dead_lettered: number;
}

export interface DeliveriesExtendParams {
  /** At most 100. */
  delivery_ids: Array<string>;
  seconds: number;
}

export interface DeliveriesExtendResult {
  extended: number;
}

export interface DeliveriesStreamParams {
  /** Maximum unacknowledged deliveries over all of the agent's streams. */
  max_in_flight?: number;
}

export type DeliveriesStreamResult = string;

export interface DeliveriesDeadLettersParams {
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface DeliveriesDeadLettersResult {
  items: Array<DeadLetter>;
  /** Number of dead letters on this page. */
  count: number;
  next_cursor: string | null;
}

export interface DeliveriesReplayParams {
  /** Id of a delivery, not of its event. */
  id: string;
  /** Only report what would happen. */
  dry_run?: boolean;
}

export interface DeliveriesReplayResult {
  /** Id of a delivery, not of its event. */
  id: string;
  status: "accepted" | "dry_run";
  /** On a dry run: the agents that would receive the event. */
  receivers?: Array<string>;
}

export interface DeliveriesReplayManyParams {
  ids?: Array<string>;
  reason?: string;
  /** Only report what would happen. */
  dry_run?: boolean;
}

export interface DeliveriesReplayManyResult {
  status: "accepted" | "dry_run";
  /** Dead letters selected. */
  count: number;
  groups: Array<{
    dlq_reason: string;
    count: number;
  }>;
  more: boolean;
}

export interface DeliveriesDiscardParams {
  /** Id of a delivery, not of its event. */
  id: string;
}

export type DeliveriesDiscardResult = undefined;

export interface DeliveriesStatsParams {
  /** Agents per page. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface DeliveriesStatsResult {
  /** Neither acknowledged nor dead-lettered. */
  pending: number;
  /** Pending deliveries that are leased. */
  in_flight: number;
  /** Pending deliveries that wait for a retry. */
  waiting: number;
  dead: number;
  oldest_age_seconds: number | null;
  agents?: Array<{
    agent_id: string;
    /** Neither acknowledged nor dead-lettered. */
    pending: number;
    /** Pending deliveries that are leased. */
    in_flight: number;
    /** Pending deliveries that wait for a retry. */
    waiting: number;
    dead: number;
    oldest_age_seconds: number | null;
  }>;
  /** Agents of the tenant. */
  total?: number;
}

export interface DevicesIssueParams {
  agent_id: string;
  /** Scopes of the device's key: at most those of the caller. Default: all of these except `admin`. */
  scopes?: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
}

export interface DevicesIssueResult {
  /** The code to type: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  verification_uri: string;
  verification_uri_complete: string;
}

export interface DevicesStatusParams {
  agent_id: string;
}

export type DevicesStatusResult = DeviceStatus;

export interface DevicesClaimParams {
  /** The code to type: four characters, a hyphen, four characters. */
  user_code: string;
  client_info: ClientInfo;
}

export interface DevicesClaimResult {
  claim_id: string;
}

export interface DevicesConfirmParams {
  agent_id: string;
  claim_id: string;
  action: "approve" | "reject";
}

export interface DevicesConfirmResult {
  state: "approved" | "denied";
  confirmed_at: string;
}

export interface DevicesCompleteParams {
  claim_id: string;
}

export interface DevicesCompleteResult {
  session_id: string;
  agent_id: string;
  api_key: string;
  /** A JWT (ES256), valid for one hour. */
  access_token: string;
  expires_at: string;
  server_now: string;
}

export interface DevicesLookUpParams {
  /** The code to type: four characters, a hyphen, four characters. */
  code: string;
}

export interface DevicesLookUpResult {
  agent_id: string;
  /** Scopes of the device's key: at most those of the caller. Default: all of these except `admin`. */
  scopes?: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
}

export interface DocumentsUploadParams {
  /** The file in standard base64. */
  file_content: string;
  filename: string;
  mime_type: "application/pdf" | "application/vnd.openxmlformats-officedocument.wordprocessingml.document" | "application/vnd.openxmlformats-officedocument.presentationml.presentation" | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" | "text/html" | "text/markdown" | "text/plain";
  /** `confidential` and `restricted` are for the uploader and its team only. */
  sensitivity?: "public" | "internal" | "confidential" | "restricted";
  /** The audience; an empty or absent list means everyone. */
  audience?: {
    regions?: Array<string>;
    industries?: Array<string>;
    product_lines?: Array<string>;
    segments?: Array<string>;
  };
  /** One of the caller's. Default: the caller's own. */
  source_id?: string;
  subject?: string | null;
}

export interface DocumentsUploadResult {
  accepted: boolean;
  document_id?: string;
  status?: "queued" | "chunking" | "embedding" | "stored" | "failed" | "superseded";
  error_code?: string;
}

export interface DocumentsListParams {
  /** How many to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
  source_id?: string;
  status?: "queued" | "chunking" | "embedding" | "stored" | "failed" | "superseded";
}

export interface DocumentsListResult {
  documents: Array<Document>;
  total: number;
  next_cursor: string | null;
}

export interface DocumentsGetParams {
  document_id: string;
}

export type DocumentsGetResult = Document;

export interface DocumentsListChunksParams {
  document_id: string;
  /** The document's `ingestion_source_id`. */
  source_id: string;
  /** How many to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface DocumentsListChunksResult {
  chunks: Array<Chunk>;
  total: number;
}

export interface DocumentsDeleteParams {
  document_id: string;
  /** The document's `ingestion_source_id`. */
  source_id: string;
}

export interface DocumentsDeleteResult {
  deleted: boolean;
  document_id?: string;
  error_code?: string;
}

export interface DocumentsSearchParams {
  query: string;
  /** Documents for everyone, or for at least one entry of each non-empty list. */
  audience?: {
    regions?: Array<string>;
    industries?: Array<string>;
    product_lines?: Array<string>;
    segments?: Array<string>;
  };
  source_id?: string;
  limit?: number;
  min_score?: number;
  explain?: boolean;
}

export interface DocumentsSearchResult {
  results: Array<{
    chunk: Chunk;
    document: Document;
    score: number;
    sources: {
      vector?: number;
      bm25?: number;
    };
  }>;
  total_candidates: number;
  sources_contributed: Array<string>;
  /** No result reaches the minimum score. */
  no_match: boolean;
  degraded: boolean;
  degraded_reasons: Array<string>;
  plan?: Record<string, unknown>;
}

export interface EventsPublishParams {
  /** A CloudEvents 1.0 envelope. Other names are extension attributes, of lower-case letters and digits: strings without control characters, booleans or 32-bit integers. */
  event: CloudEvent;
}

export type EventsPublishResult = PublishResult | PublishResult | Array<PublishResult | RejectedEvent>;

export interface EventsListParams {
  /** Glob over types. */
  type?: string;
  source?: string;
  subject?: string;
  /** The producer's id. */
  id?: string;
  /** Accepted at this time or later. */
  since?: string;
  /** Only events without a match. */
  unmatched?: boolean;
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface EventsListResult {
  events: Array<EventSummary>;
  next_cursor: string | null;
}

export interface EventsGetParams {
  /** The service's id of the event. */
  event_id: string;
}

export interface EventsGetResult {
  /** The service's id of the event. */
  event_id: string;
  /** `parked`: fan-out failed five times; an admin may retry it. */
  state: "accepted" | "fanned_out" | "parked";
  accepted_at: string;
  fanned_out_at: string | null;
  matched_count: number | null;
  /** How often another source used its id. */
  duplicate_sources: number;
  publisher_id: string | null;
  /** A CloudEvents 1.0 envelope. Other names are extension attributes, of lower-case letters and digits: strings without control characters, booleans or 32-bit integers. */
  payload: CloudEvent;
  park_reason: string | null;
  timeline: Array<TimelineEntry>;
  deliveries: {
    pending: number;
    acknowledged: number;
    dlq: number;
  };
  /** For admins: one row for each receiver, the first 1,000 of them. */
  receivers?: Array<EventReceiver>;
}

export interface EventsRetryParams {
  /** The service's id of the event. */
  event_id: string;
}

export type EventsRetryResult = PublishResult;

export interface ExemplarsCreateParams {
  display_name: string;
  filename: string;
  /** The text. */
  content: string;
}

export type ExemplarsCreateResult = Exemplar;

export type ExemplarsListParams = Record<never, never>;

export type ExemplarsListResult = Array<Exemplar>;

export interface ExemplarsGetParams {
  exemplar_id: string;
}

export type ExemplarsGetResult = Exemplar;

export interface ExemplarsRenameParams {
  exemplar_id: string;
  display_name: string;
}

export type ExemplarsRenameResult = Exemplar;

export interface ExemplarsDeleteParams {
  exemplar_id: string;
}

export type ExemplarsDeleteResult = undefined;

export interface ExemplarsDownloadParams {
  exemplar_id: string;
}

export type ExemplarsDownloadResult = string;

export interface FindingsListParams {
  limit?: number;
  /** Advances the agent's cursor past the returned findings. */
  mark_read?: boolean;
  /** Read after this position instead of the cursor's. */
  since_seq?: number;
  min_importance?: number;
}

export interface FindingsListResult {
  findings: Array<Finding>;
  cursor: {
    /** The agent's previous cursor; 0 if it had none. */
    previous_seq: number;
    /** The new cursor; without `mark_read`, the end of this page. */
    current_seq: number;
    marked_read: boolean;
  };
  /** Markdown; text by others is fenced. */
  rendered_brief: string;
  /** The agent had no cursor. */
  cold_start: boolean;
  more_available: boolean;
}

export type GatewayHealthzParams = Record<never, never>;

export interface GatewayHealthzResult {
  status: "ok";
}

export type GatewayReadyzParams = Record<never, never>;

export interface GatewayReadyzResult {
  status: "ready";
  checks: Record<string, string>;
}

export type GatewayMetricsParams = Record<never, never>;

export type GatewayMetricsResult = string;

export type GatewayOpenapiParams = Record<never, never>;

export type GatewayOpenapiResult = Record<string, unknown>;

export type GatewayDocsParams = Record<never, never>;

export type GatewayDocsResult = string;

export interface HandoffsSaveParams {
  name: string;
  summary?: string;
  /** Other fields are kept and appear in the brief. */
  payload?: {
    completed?: string | Array<string> | null;
    remaining?: string | Array<string> | null;
    blockers?: string | Array<string> | null;
    decisions?: Array<HandoffDecision> | null;
    rejected_options?: Array<string | HandoffDecision> | null;
    next_action?: string | Array<string> | null;
    context_notes?: string | Array<string> | null;
    [name: string]: unknown;
  };
  citations?: Array<{
    memory_id: string;
  }>;
  /** Kept as given. */
  artifacts?: Array<string>;
  origin_client?: string | null;
  scope?: "agent";
  bundle_id?: string | null;
  /** Saves only over this `version_num`, otherwise 409 `conflict`. 0: only if the name is unused. */
  if_version?: number;
}

export type HandoffsSaveResult = Handoff;

export interface HandoffsListParams {
  q?: string;
  limit?: number;
  /** Number to skip; not with `q`. */
  offset?: number;
}

export type HandoffsListResult = Array<Handoff>;

export interface HandoffsResumeParams {
  /** A name, an id, or free text. */
  query: string;
}

export type HandoffsResumeResult = HandoffCandidates | string;

export interface HandoffsGetParams {
  id: string;
}

export type HandoffsGetResult = Handoff;

export interface HandoffsDeleteParams {
  id: string;
}

export type HandoffsDeleteResult = undefined;

export interface HandoffsExportParams {
  id: string;
}

export type HandoffsExportResult = string;

export interface HandoffsPinParams {
  id: string;
}

export type HandoffsPinResult = Handoff;

export interface HandoffsUnpinParams {
  id: string;
}

export type HandoffsUnpinResult = Handoff;

export interface IngestCreateWebhookParams {
  name: string;
  /** The sender: the second part of the events' type, and the end of the webhook's URL. */
  source: string;
  mapping: Mapping | "cloudevents";
  /** For senders that generate the secret themselves; without it, one is generated. */
  signing_secret?: string;
}

export interface IngestCreateWebhookResult {
  id: string;
  name: string;
  /** The sender: the second part of the events' type, and the end of the webhook's URL. */
  source: string;
  mapping: Mapping | "cloudevents";
  url: string;
  created_at: string;
  updated_at: string;
  /** The signing secret. Shown only once. */
  signing_secret: string;
}

export interface IngestListWebhooksParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface IngestListWebhooksResult {
  webhooks: Array<Webhook>;
  total: number;
}

export interface IngestUpdateWebhookParams {
  webhook_id: string;
  name?: string;
  mapping?: Mapping | "cloudevents";
}

export type IngestUpdateWebhookResult = Webhook;

export interface IngestDeleteWebhookParams {
  webhook_id: string;
}

export type IngestDeleteWebhookResult = undefined;

export interface IngestRotateWebhookParams {
  webhook_id: string;
  /** For senders that generate the secret themselves; without it, one is generated. */
  signing_secret?: string;
}

export interface IngestRotateWebhookResult {
  /** The signing secret. Shown only once. */
  signing_secret: string;
  previous_ends_at: string;
}

export interface IngestTestWebhookParams {
  webhook_id: string;
  /** The body that the sender would send. */
  payload: unknown;
  headers?: Record<string, string>;
}

export interface IngestTestWebhookResult {
  event: CloudEvent | null;
  error: string | null;
}

export interface IngestReceiveParams {
  tenant_slug: string;
  /** The body, in base64. */
  raw: string;
  headers: Record<string, string>;
}

export type IngestReceiveResult = WebhookResult | WebhookBatchResult;

export interface IngestReceiveFromParams {
  tenant_slug: string;
  source: string;
  /** The body, in base64. */
  raw: string;
  headers: Record<string, string>;
}

export type IngestReceiveFromResult = WebhookResult | WebhookBatchResult;

export interface IngestValidateParams {
  tenant_slug: string;
  /** The body, in base64. */
  raw: string;
  headers: Record<string, string>;
}

export interface IngestValidateResult {
  allowed_origin: string | null;
  allowed_rate: string | null;
}

export interface IngestValidateForParams {
  tenant_slug: string;
  source: string;
  /** The body, in base64. */
  raw: string;
  headers: Record<string, string>;
}

export interface IngestValidateForResult {
  allowed_origin: string | null;
  allowed_rate: string | null;
}

export interface InterestsCreateParams {
  agent_id: string;
  /** Shell-style glob over event types: `*` any run of characters (dots too), `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type: string;
  filter_expression?: string | null;
  /** 9 is delivered first. */
  priority?: number;
  /** Whether deliveries carry the receiver's best memories about the event's subject and type, as `payload.enrichment.memories`: `shallow` three with id, title and score, `deep` ten with content. A late or failed search does not delay deliveries: `payload.enrichment.degraded` is then true, with reasons. */
  enrichment_depth?: "none" | "shallow" | "deep";
}

export type InterestsCreateResult = Interest;

export interface InterestsListParams {
  agent_id: string;
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface InterestsListResult {
  interests: Array<Interest>;
  total: number;
}

export interface InterestsGetParams {
  agent_id: string;
  id: string;
}

export type InterestsGetResult = Interest;

export interface InterestsUpdateParams {
  agent_id: string;
  id: string;
  /** Shell-style glob over event types: `*` any run of characters (dots too), `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type?: string;
  filter_expression?: string | null;
  /** 9 is delivered first. */
  priority?: number;
  /** Whether deliveries carry the receiver's best memories about the event's subject and type, as `payload.enrichment.memories`: `shallow` three with id, title and score, `deep` ten with content. A late or failed search does not delay deliveries: `payload.enrichment.degraded` is then true, with reasons. */
  enrichment_depth?: "none" | "shallow" | "deep";
}

export type InterestsUpdateResult = Interest;

export interface InterestsDeleteParams {
  agent_id: string;
  id: string;
}

export type InterestsDeleteResult = undefined;

export interface InterestsTestParams {
  agent_id: string;
  /** Shell-style glob over event types: `*` any run of characters (dots too), `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type: string;
  filter_expression?: string | null;
  /** 9 is delivered first. */
  priority?: number;
  /** Whether deliveries carry the receiver's best memories about the event's subject and type, as `payload.enrichment.memories`: `shallow` three with id, title and score, `deep` ten with content. A late or failed search does not delay deliveries: `payload.enrichment.degraded` is then true, with reasons. */
  enrichment_depth?: "none" | "shallow" | "deep";
}

export interface InterestsTestResult {
  tested: number;
  matched: number;
  /** Newest first. */
  results: Array<{
    event_id: string;
    type: string;
    source: string;
    subject: string | null;
    accepted_at: string;
    matches: boolean;
    /** `type`: the glob does not match. `filter`: the filter is false. `filter_error`: the filter failed. */
    reason: "match" | "type" | "filter" | "filter_error";
    /** Why the filter failed. */
    error?: string;
  }>;
}

export interface KeysCreateParams {
  agent_id: string;
  /** Scopes of the key; `admin` implies all others in its tenant. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  expires_at?: string | null;
}

export interface KeysCreateResult {
  id: string;
  /** The first characters of the key. */
  prefix: string;
  /** Scopes of the key; `admin` implies all others in its tenant. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
  /** The key itself. */
  key: string;
}

export interface KeysListParams {
  agent_id: string;
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface KeysListResult {
  keys: Array<{
    id: string;
    /** The first characters of the key. */
    prefix: string;
    /** Scopes of the key; `admin` implies all others in its tenant. */
    scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
    expires_at: string | null;
    last_used_at: string | null;
    created_at: string;
  }>;
  total: number;
}

export interface KeysRevokeParams {
  agent_id: string;
  key_id: string;
}

export type KeysRevokeResult = undefined;

export type LiveStatsParams = Record<never, never>;

export type LiveStatsResult = Stats;

export type LiveWatchParams = Record<never, never>;

export type LiveWatchResult = string;

export interface MemoriesEraseParams {
  /** All memories that this agent owns. */
  agent_id?: string;
  ids?: Array<string>;
  /** Memories whose `metadata.subject` is or contains it, or whose source event or document has it. Numbers are compared as text. */
  subject?: string;
  dry_run?: boolean;
}

export interface MemoriesEraseResult {
  dry_run: boolean;
  erased_at: string | null;
  /** Rows by kind; bundles and handoffs count if they named an erased memory. */
  erased: ErasedMemories;
  storage: "rewritten" | "overwritten" | "deleted" | null;
  backups_until: string | null;
  receipt: string | null;
}

export interface MemoriesListParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
  /** `next_cursor` of an earlier answer. */
  cursor?: string;
  type?: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  /** Only memories of this scope. Default: all that the caller may read. */
  scope?: "agent" | "team" | "institutional";
  /** Part of the title or the content, ignoring case. Searches and counts the latest 100,000 memories of the institution, of each team and of each owner. */
  search?: string;
  /** Empty: only memories without a project. */
  project_id?: string;
  /** Any of these; repeated or comma-separated. */
  tags?: Array<string>;
  source_type?: string;
  /** Only memories without citations. */
  never_cited?: boolean;
  include_superseded?: boolean;
  sort?: "created_at" | "title" | "confidence" | "importance";
  order?: "asc" | "desc";
}

export interface MemoriesListResult {
  memories: Array<Memory>;
  total: number;
  next_cursor: string | null;
}

export interface MemoriesCreateParams {
  title: string;
  content: string;
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  /** The readers: the owner, the team, or the whole tenant. It can only be widened. */
  scope: "agent" | "team" | "institutional";
  team_id?: string | null;
  project_id?: string | null;
  tags?: Array<string> | null;
  /** Certainty; independent of importance. */
  confidence?: number;
  /** Relevance; independent of confidence. */
  importance?: number;
  metadata?: Record<string, unknown> | null;
  source_type?: string | null;
  source_id?: string | null;
  source_url?: string | null;
  source_event_id?: string | null;
  freshness_date?: string | null;
  expires_at?: string | null;
  supersedes_id?: string | null;
}

export type MemoriesCreateResult = Memory;

export interface MemoriesCreateBatchParams {
  memories: Array<unknown>;
}

export interface MemoriesCreateBatchResult {
  results: Array<{
    /** The response of `POST /memories`. */
    status: number;
    memory?: Memory;
    error?: {
      code: string;
      message: string;
      details: Record<string, unknown>;
    };
  }>;
}

export interface MemoriesGetParams {
  id: string;
}

export type MemoriesGetResult = MemoryWithUsage;

export interface MemoriesUpdateParams {
  id: string;
  title?: string;
  content?: string;
  /** Certainty; independent of importance. */
  confidence?: number;
  /** Relevance; independent of confidence. */
  importance?: number;
  metadata?: Record<string, unknown> | null;
  expires_at?: string | null;
  freshness_date?: string | null;
  project_id?: string | null;
  tags?: Array<string> | null;
}

export type MemoriesUpdateResult = Memory;

export interface MemoriesPromoteParams {
  id: string;
  /** The readers: the owner, the team, or the whole tenant. It can only be widened. */
  scope: "agent" | "team" | "institutional";
  team_id?: string | null;
}

export type MemoriesPromoteResult = Memory;

export interface MemoriesForgetParams {
  id: string;
}

export interface MemoriesForgetResult {
  memory_id: string;
  forgotten: boolean;
  invalid_at: string;
}

export interface MemoriesRestoreParams {
  id: string;
}

export type MemoriesRestoreResult = Memory;

export interface MemoriesSupersedeParams {
  id: string;
  superseded_by_id: string;
}

export interface MemoriesSupersedeResult {
  memory_id: string;
  superseded_by: string;
  invalid_at: string;
}

export interface MemoriesLineageParams {
  id: string;
}

export interface MemoriesLineageResult {
  memory_id: string;
  /** Memories merged into it, directly or indirectly, nearest first. */
  merge_lineage: Array<{
    loser_memory_id: string;
    winner_memory_id: string;
    /** The origin of the merge. */
    origin: string;
  }>;
  /** The memory was superseded or merged into another. */
  superseded: boolean;
  supersedes_target: string | null;
}

export interface MemoriesSearchParams {
  /** With `explain`: the plan says at which stage this memory was dropped, and why. */
  expect?: string;
  query: string;
  /** Only memories of this scope. Default: all that the caller may read. */
  scope?: "agent" | "team" | "institutional";
  /** Any of these. */
  memory_types?: Array<"episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning">;
  limit?: number;
  /** The minimum score. */
  min_score?: number;
  project_id?: string | null;
  /** Folded: lower case, NFC, white space, `_` and `-` to one `-`. */
  tags?: Array<string>;
  include_superseded?: boolean;
  /** Adds the plan. */
  explain?: boolean;
}

export interface MemoriesSearchResult {
  results: Array<{
    memory: Memory;
    /** The relevance. */
    score: number;
    /** The score of each leg. */
    sources: {
      /** Similarity in meaning. */
      vector?: number;
      /** Similarity in words. */
      bm25?: number;
      [name: string]: unknown;
    };
    superseded: boolean;
  }>;
  /** Memories that were ranked. */
  total_candidates: number;
  /** Legs that contributed to the results. */
  sources_contributed: Array<string>;
  /** For `cite`: which search led to the memory. */
  originating_query_id: string;
  /** No memory fits well enough. */
  no_match: boolean;
  /** A leg did not answer. */
  degraded: boolean;
  degraded_reasons: Array<string>;
  plan?: {
    legs: Array<{
      name: string;
      candidates: number;
      ms: number;
    }>;
    /** Counts per stage, from all readable memories to the results. */
    funnel: Array<{
      stage: string;
      in: number;
      out: number;
    }>;
    /** The best candidates, including those below the minimum score or beyond the limit. */
    results: Array<{
      memory_id: string;
      vector: number | null;
      bm25: number | null;
      /** The score of the content alone. */
      fused: number;
      confidence: number;
      recency: number;
      /** The score. */
      final: number;
    }>;
    /** The outcome for the memory named by `expect`. */
    expect?: {
      id: string;
      found: boolean;
      stage: string;
      reason: string;
    };
  };
}

export interface MemoriesCiteParams {
  id: string;
  originating_query_id?: string | null;
}

export type MemoriesCiteResult = undefined;

export interface MemoriesCitationsParams {
  id: string;
}

export interface MemoriesCitationsResult {
  citations: Array<Citation>;
  total: number;
}

export interface MemoriesActivityParams {
  agent_id: string;
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface MemoriesActivityResult {
  agent_id: string;
  /** Its active memories. */
  memory_count: number;
  /** Its memories that others have cited. */
  memory_count_with_usefulness_gt_zero: number;
  /** Citations of its memories by others. */
  cite_count_30d: number;
  activity: Array<Activity>;
  total: number;
}

export type MemoriesHealthParams = Record<never, never>;

export type MemoriesHealthResult = MemoryHealth;

export interface MergesProposeParams {
  memory_a_id: string;
  memory_b_id: string;
  resolution_note?: string | null;
}

export type MergesProposeResult = MergeProposal;

export interface MergesListParams {
  status?: "open" | "resolved" | "rejected";
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface MergesListResult {
  merge_proposals: Array<MergeProposal>;
  /** Except for org admins: among the tenant's latest 10,000. */
  total: number;
}

export interface MergesGetParams {
  id: string;
}

export type MergesGetResult = MergeProposal;

export interface MergesResolveParams {
  id: string;
  /** `memory_a_id` or `memory_b_id`. */
  surviving_memory_id: string;
  resolution_note?: string | null;
  merged_content?: string | null;
}

export type MergesResolveResult = MergeProposal;

export interface MergesRejectParams {
  id: string;
  resolution_note?: string | null;
}

export type MergesRejectResult = MergeProposal;

export type OnboardingGetParams = Record<never, never>;

export type OnboardingGetResult = OnboardingGuidance;

export type OnboardingDismissParams = Record<never, never>;

export type OnboardingDismissResult = OnboardingGuidance;

export interface OutputsExportParams {
  /** Its id or its slug. */
  output_id: string;
  format?: "md" | "html" | "pdf" | "docx";
}

export type OutputsExportResult = string | Blob;

export interface OutputsEmailParams {
  /** Its id or its slug. */
  output_id: string;
  to: string;
  subject?: string;
  attach_format?: "md" | "html" | "pdf" | "docx";
}

export interface OutputsEmailResult {
  status: "sent";
  to: string;
}

export interface OutputsSaveParams {
  title?: string;
  /** The readers: the owner, a team, or the whole tenant. Set by the first save. */
  scope?: "agent" | "team" | "institutional";
  team_id?: string | null;
  project_id?: string | null;
  source_type?: string | null;
  /** Its id or its slug. */
  output_id?: string;
  /** The change in this version. */
  change_note?: string;
  process_run_id?: string | null;
  /** The outputs that it was derived from. Ids or slugs; those of outputs that the caller may not read are ignored. */
  derived_from_ids?: Array<string>;
  /** The outputs that it refers to. Ids or slugs; those of outputs that the caller may not read are ignored. */
  references_ids?: Array<string>;
  /** The outputs that it supersedes. Ids or slugs; those of outputs that the caller may not read are ignored. */
  supersedes_ids?: Array<string>;
  /** Markdown. */
  body: string;
  metadata?: Record<string, unknown>;
}

export type OutputsSaveResult = Output;

export interface OutputsListParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
  /** `next_cursor` of an earlier answer. */
  cursor?: string;
  /** The readers: the owner, a team, or the whole tenant. Set by the first save. */
  scope?: "agent" | "team" | "institutional";
  /** Empty: only outputs without a project. */
  project_id?: string;
  process_run_id?: string;
  /** Any of these; repeated or comma-separated. */
  tags?: Array<string>;
  /** `created_at` or `title`; other values mean `created_at`. */
  sort?: string;
  /** `asc` or `desc`; by default newest first, or titles from A. */
  order?: string;
}

export interface OutputsListResult {
  outputs: Array<Output>;
  total: number;
  next_cursor: string | null;
}

export interface OutputsGetParams {
  /** Its id or its slug. */
  output_id: string;
  version?: number;
}

export type OutputsGetResult = Output;

export interface OutputsUpdateParams {
  /** Its id or its slug. */
  output_id: string;
  project_id?: string | null;
  /** Folded: lower case, NFC, white space, `_` and `-` to one `-`. */
  tags?: Array<string>;
}

export interface OutputsUpdateResult {
  id: string;
  project_id: string | null;
  tags: Array<string>;
}

export interface OutputsDeleteParams {
  /** Its id or its slug. */
  output_id: string;
}

export type OutputsDeleteResult = undefined;

export interface OutputsListVersionsParams {
  /** Its id or its slug. */
  output_id: string;
}

export interface OutputsListVersionsResult {
  versions: Array<OutputVersion>;
}

export interface OutputsGetVersionParams {
  /** Its id or its slug. */
  output_id: string;
  /** Its number or id. */
  version_num: string;
}

export type OutputsGetVersionResult = OutputVersion;

export interface OutputsSearchParams {
  query: string;
  /** The readers: the owner, a team, or the whole tenant. Set by the first save. */
  scope?: "agent" | "team" | "institutional";
  min_score?: number;
  limit?: number;
  /** A project's key, never its id. */
  project_id?: string;
  include_superseded?: boolean;
  include_archived?: boolean;
}

export interface OutputsSearchResult {
  results: Array<{
    kind: "output";
    output: Output;
    /** 0..1 */
    score: number;
    /** The passage that fits best. */
    passage: string;
    superseded: boolean;
  }>;
  /** Matching outputs, including those beyond the limit. */
  total_candidates: number;
  no_match: boolean;
  degraded: boolean;
  degraded_reasons: Array<string>;
}

export interface ProjectsListParams {
  status?: "active" | "completed" | "archived";
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface ProjectsListResult {
  projects: Array<Project>;
  total: number;
}

export interface ProjectsCreateParams {
  /** Letters, digits, `.`, `_` and `-`; not a UUID. Other operations take it as `project_id`. Immutable. */
  key: string;
  name?: string;
  status?: "active" | "completed" | "archived";
  target_date?: string | null;
}

export type ProjectsCreateResult = Project;

export interface ProjectsUpdateParams {
  /** Letters, digits, `.`, `_` and `-`; not a UUID. Other operations take it as `project_id`. Immutable. */
  key: string;
  name?: string;
  status?: "active" | "completed" | "archived";
  target_date?: string | null;
}

export type ProjectsUpdateResult = Project;

export interface RelationshipsCreateParams {
  id: string;
  target_memory_id: string;
  /** One of `GET /relationship-types`; the list grows without a change of this API. */
  relationship_type: string;
  strength?: number;
  metadata?: Record<string, unknown> | null;
}

export type RelationshipsCreateResult = Relationship;

export interface RelationshipsListParams {
  id: string;
  /** How many to skip. */
  offset?: number;
  limit?: number;
}

export interface RelationshipsListResult {
  relationships: Array<Relationship>;
  /** Number of results. */
  count: number;
}

export interface RelationshipsDeleteParams {
  id: string;
  rel_id: string;
}

export type RelationshipsDeleteResult = undefined;

export interface RelationshipsGraphParams {
  id: string;
  /** Hops. */
  depth?: number;
  /** Include superseded and merged memories. */
  include_superseded?: boolean;
}

export interface RelationshipsGraphResult {
  /** The memory itself, then the nearest first. */
  nodes: Array<Memory>;
  edges: Array<Relationship>;
  /** There are more than 200 memories or 1,000 edges. */
  truncated: boolean;
}

export type RelationshipsTypesParams = Record<never, never>;

export interface RelationshipsTypesResult {
  relationship_types: Array<RelationshipType>;
  /** Only the service sets these. */
  reserved: Array<string>;
  total: number;
}

export interface RunsRegisterArtifactParams {
  run_id: string;
  kind: string;
  pointer: GivenPointer;
  step_record_id?: string | null;
  mime_type?: string | null;
}

export type RunsRegisterArtifactResult = RunArtifact;

export interface RunsListArtifactsParams {
  run_id: string;
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface RunsListArtifactsResult {
  artifacts: Array<RunArtifact>;
  total: number;
}

export interface RunsAttachExemplarParams {
  run_id: string;
  exemplar_id: string;
}

export interface RunsAttachExemplarResult {
  run_id: string;
  exemplar_ids: Array<string>;
}

export interface RunsOfferHandoffParams {
  run_id: string;
  step_key: string;
  handoff_id?: string | null;
  note?: string | null;
}

export type RunsOfferHandoffResult = HandoffOffer;

export interface RunsListOffersParams {
  run_id: string;
}

export interface RunsListOffersResult {
  offers: Array<HandoffOffer>;
  total: number;
}

export interface RunsAcceptOfferParams {
  run_id: string;
  offer_id: string;
}

export interface RunsAcceptOfferResult {
  offer: HandoffOffer;
  completed_step: RunStep;
  attempt: StepAttempt | null;
  run_completed: boolean;
}

export interface RunsDeclineOfferParams {
  run_id: string;
  offer_id: string;
  note?: string | null;
}

export type RunsDeclineOfferResult = HandoffOffer;

export interface RunsCreateParams {
  goal: string;
  project_id?: string | null;
  success_criteria?: Array<string>;
  ambiguity_score?: number | null;
  ambiguity_notes?: Array<{
    dimension: string;
    score?: number | null;
    min?: number | null;
    status?: string | null;
    note?: string | null;
  }>;
  steps?: Array<GivenRunStep>;
  template_id?: string | null;
  step_assignments?: Array<{
    step_key: string;
    assigned_user_id: string;
  }>;
}

export type RunsCreateResult = Run;

export interface RunsListParams {
  status?: "active" | "completed" | "closed";
  /** Empty: only runs without a project. */
  project_id?: string;
  /** How many to skip. */
  offset?: number;
  /** Default: all. */
  limit?: number;
}

export type RunsListResult = Array<Run>;

export interface RunsGetParams {
  run_id: string;
}

export type RunsGetResult = RunWithAttempts;

export interface RunsPositionParams {
  run_id: string;
}

export type RunsPositionResult = Position;

export interface RunsCloseParams {
  run_id: string;
  outcome: "achieved" | "partially_achieved" | "abandoned";
  note?: string | null;
}

export type RunsCloseResult = Run;

export interface RunsRetrospectiveParams {
  run_id: string;
}

export interface RunsRetrospectiveResult {
  items: Array<{
    step_key: string;
    title: string;
    role: string | null;
    /** `ready`: everything it depends on is completed or skipped; `blocked`: not yet. */
    status: "blocked" | "ready" | "in_progress" | "completed" | "skipped";
    what_makes_this_done: string | null;
    elapsed_seconds: number | null;
    active_seconds: number | null;
  }>;
}

export interface RunsHistoryParams {
  run_id: string;
}

export interface RunsHistoryResult {
  items: Array<{
    step_key: string;
    title: string;
    role: string | null;
    ordinal: number;
    actor_kind: "agent" | "user";
    actor_id: string;
    at: string;
    handoff_offer_id: string | null;
    artifacts: Array<{
      display_name: string | null;
    }>;
  }>;
}

export interface RunsStatusDocumentParams {
  run_id: string;
}

export type RunsStatusDocumentResult = string;

export interface RunsStartStepParams {
  run_id: string;
  step_key: string;
  handoff_id?: string | null;
  bundle_id?: string | null;
  notes?: string | null;
}

export type RunsStartStepResult = StepAttempt;

export interface RunsCompleteStepParams {
  run_id: string;
  step_key: string;
  criterion_key?: string | null;
  what_makes_this_done?: string | null;
  artifact_contents?: Array<{
    artifact_id: string;
    content_base64: string;
    mime_type: string;
  }>;
}

export interface RunsCompleteStepResult {
  run_id: string;
  completed_step_key: string | null;
  completed_step: RunStep;
  newly_ready_steps: Array<PositionStep>;
  run_completed: boolean;
}

export interface RunsSkipStepParams {
  run_id: string;
  step_key: string;
  reason: string;
}

export interface RunsSkipStepResult {
  run_id: string;
  run_goal: string;
  reason: string;
  record_id: string;
  skipped_step: RunStep;
  newly_ready_steps: Array<PositionStep>;
  run_completed: boolean;
}

export interface RunsReopenStepParams {
  run_id: string;
  step_key: string;
  reason: string;
}

export interface RunsReopenStepResult {
  run_id: string;
  run_goal: string;
  reason: string;
  record_id: string;
  reopened_step: RunStep;
  demoted_successors: Array<PositionStep>;
  notify_only_successors: Array<PositionStep>;
  run_reactivated: boolean;
}

export interface RunsAssignStepParams {
  run_id: string;
  step_key: string;
  assigned_user_id: string | null;
}

export interface RunsAssignStepResult {
  run_id: string;
  run_goal: string;
  assigned_step: RunStep;
}

export interface SessionsListParams {
  agent_id: string;
  limit?: number;
}

export interface SessionsListResult {
  sessions: Array<Session>;
}

export interface SessionsDeleteParams {
  agent_id: string;
  session_id: string;
}

export type SessionsDeleteResult = undefined;

export interface SessionsHeartbeatParams {
  session_id: string;
}

export interface SessionsHeartbeatResult {
  last_seen_at: string;
  next_allowed_at: string;
  server_now: string;
}

export interface SpecialistsWriteParams {
  name: string;
  system_prompt: string;
  memory_search_directives?: string | null;
  output_format_rules?: string | null;
  description?: string | null;
}

export type SpecialistsWriteResult = Specialist;

export type SpecialistsListParams = Record<never, never>;

export interface SpecialistsListResult {
  specialists: Array<{
    name: string;
    version_num: number;
    description: string | null;
    updated_at: string;
    /** Whether the caller has loaded it and not unloaded it. */
    loaded: boolean;
  }>;
}

export interface SpecialistsLoadParams {
  name: string;
}

export type SpecialistsLoadResult = Specialist | SpecialistNotLoaded;

export interface SpecialistsUnloadParams {
  name: string;
}

export interface SpecialistsUnloadResult {
  unloaded: boolean;
  name: string;
}

export interface SpecialistsVersionsParams {
  name: string;
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface SpecialistsVersionsResult {
  versions: Array<{
    name: string;
    version_num: number;
    system_prompt: string;
    memory_search_directives: string | null;
    output_format_rules: string | null;
    description: string | null;
    created_at: string;
  }>;
  total: number;
}

export interface TeamsCreateParams {
  name: string;
  description?: string | null;
}

export type TeamsCreateResult = Team;

export interface TeamsListParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface TeamsListResult {
  teams: Array<Team>;
  total: number;
}

export interface TemplatesAuthorParams {
  name: string;
  slug: string;
  description?: string | null;
  goal_template?: string | null;
  steps: Array<GivenTemplateStep>;
}

export type TemplatesAuthorResult = ProcessTemplate;

export type TemplatesListParams = Record<never, never>;

export type TemplatesListResult = Array<TemplateSummary>;

export interface TemplatesGetParams {
  slug: string;
  version_num?: number;
}

export type TemplatesGetResult = ProcessTemplate;

export interface TenantsCreateParams {
  /** Names the tenant in URLs: lower-case letters, digits and inner hyphens, at most 63. */
  slug: string;
  name: string;
  admin_email: string;
}

export interface TenantsCreateResult {
  tenant: Tenant;
  admin: {
    email: string;
    password: string;
  };
  agent: {
    id: string;
    api_key: string;
  };
  ingest_url: string;
}

export interface TenantsListParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
}

export interface TenantsListResult {
  tenants: Array<Tenant>;
  total: number;
}

export interface TenantsUpdateParams {
  tenant_id: string;
  status?: "active" | "suspended";
  storage_quota_mb?: number | null;
}

export type TenantsUpdateResult = Tenant;

export interface TenantsEraseParams {
  tenant_id: string;
}

export interface TenantsEraseResult {
  tenant_id: string;
  erased_at: string;
  /** Rows by kind. */
  erased: Record<string, number>;
  /** How the bytes were removed from the store's files. `rewritten`: the files were rewritten without them. `overwritten`: in place; fragments of rows that SQLite moved earlier, about one in a thousand, may remain in unused parts of pages. `deleted`: by MongoDB, whose data files, journal and oplog may keep them until the space is reused. */
  storage: "rewritten" | "overwritten" | "deleted";
  backups_until: string | null;
  receipt: string;
}

export type TenantsLimitsParams = Record<never, never>;

export type TenantsLimitsResult = Limits;

export interface UsersCreateParams {
  email: string;
  display_name?: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role?: "admin" | "member";
  password?: string;
}

export interface UsersCreateResult {
  id: string;
  tenant_id: string;
  email: string;
  display_name: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role: "admin" | "member";
  status: "active" | "disabled";
  created_at: string;
  updated_at: string;
  /** The generated password, shown only here. */
  password?: string;
}

export interface UsersListParams {
  /** How many to skip. */
  offset?: number;
  /** How many to return at most. */
  limit?: number;
  /** Part of the name or the e-mail, in any case. */
  search?: string;
}

export interface UsersListResult {
  users: Array<User>;
  total: number;
}

export interface UsersUpdateParams {
  user_id: string;
  display_name?: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role?: "admin" | "member";
  status?: "active" | "disabled";
  /** `true` generates a new password, returned once. */
  reset_password?: boolean;
}

export interface UsersUpdateResult {
  id: string;
  tenant_id: string;
  email: string;
  display_name: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role: "admin" | "member";
  status: "active" | "disabled";
  created_at: string;
  updated_at: string;
  /** The generated password, shown only here. */
  password?: string;
}

export interface Activity {
  kind: "cite";
  memory_id: string;
  /** The memory is the agent's own: it does not affect ranking. */
  own: boolean;
  originating_query_id: string | null;
  at: string;
}

export interface Agent {
  id: string;
  tenant_id: string;
  name: string;
  status: "active" | "inactive";
  delivery_mode: "poll" | "push" | "sse";
  description: string | null;
  delivery_endpoint: string | null;
  /** CloudEvents mode of pushes: `structured` (default) has the whole event as the body, `binary` its data, with the attributes in `ce-…` headers. An event whose attributes don't fit into headers (over 8 KB, or enriched) is pushed in structured mode. */
  push_format: "structured" | "binary";
  team_id: string | null;
  owner_user_id: string | null;
  visibility_timeout_seconds: number | null;
  retry_budget: number | null;
  /** The endpoint answered 410 Gone; setting an endpoint resumes pushes. */
  push_stopped: boolean;
  created_at: string;
  updated_at: string;
}

export interface Audience {
  regions: Array<string>;
  industries: Array<string>;
  product_lines: Array<string>;
  segments: Array<string>;
}

export interface AuditEntry {
  id: string;
  at: string;
  action: string;
  actor_kind: "agent" | "user" | "operator" | "service";
  actor_id: string | null;
  resource_type: string | null;
  resource_id: string | null;
  /** `begun`: in progress, or interrupted and possibly completed. */
  outcome: "begun" | "done" | "refused" | "failed";
  error: string | null;
  request_id: string | null;
  ip: string | null;
  /** Ids, counts, decisions and field names; never content. */
  details: Record<string, unknown>;
}

export interface BrowserSession {
  user: {
    id: string;
    display_name: string;
    role: "admin" | "member";
    tenant_id: string;
    email: string;
  };
  tenant: {
    id: string;
    slug: string;
    name: string;
  };
  expires_at: string;
  /** For the header X-CSRF-Token of requests that change state. */
  csrf_token: string;
}

export interface Bundle {
  id: string;
  query: string | null;
  /** By rank. */
  items: Array<{
    kind: "memory" | "output" | "handoff";
    item_id: string;
    title: string;
    score: number;
    /** How it was found. */
    source: string;
    why: string;
    /** 1 is the best of all kinds. */
    rank: number;
  }>;
  /** Markdown; text by others is fenced. */
  rendered_brief: string;
  /** A source was unavailable. */
  degraded: boolean;
  degraded_reasons: Array<string>;
  /** The version of the ranking weights. */
  weights_version: string;
  created_at: string;
}

export interface Channel {
  id: string;
  name: string;
  description: string | null;
  created_at: string;
  updated_at: string;
}

export interface Chunk {
  chunk_id: string;
  document_id: string;
  page_number: number | null;
  /** Its start in the document's text. */
  char_offset: number;
  char_length: number;
  chunk_index: number;
  text: string;
  created_at: string;
}

export interface Citation {
  document_id: string;
  document_name: string;
  page: number | null;
  snippet: string;
  source_id: string;
  confidence: number | null;
  version: number | null;
  freshness: {
    /** The document was superseded or deleted since. */
    stale: boolean;
    stale_since: string | null;
  };
}

export interface ClientInfo {
  name: string;
  version: string;
  signature?: string | null;
  host: string;
}

/** A CloudEvents 1.0 envelope. Other names are extension attributes, of lower-case letters and digits: strings without control characters, booleans or 32-bit integers. */
export interface CloudEvent {
  specversion: "1.0";
  /** Unique within the tenant: the deduplication key. */
  id: string;
  /** The producing system. */
  source: string;
  /** Reverse-DNS event type. */
  type: string;
  /** What the event is about. */
  subject?: string;
  time?: string;
  /** Media type of `data`. */
  datacontenttype?: string;
  dataschema?: string;
  /** Any JSON. Its numbers are kept as doubles: an integer beyond 2^53 is exact as text only, and one beyond 1.8e308 is refused. */
  data?: unknown;
  /** Binary data, instead of `data`. */
  data_base64?: string;
  [name: string]: unknown;
}

export interface Connector {
  id: string;
  name: string;
  /** `amqp091`: RabbitMQ. `amqp10`: Azure Service Bus, ActiveMQ Artemis, Qpid, RabbitMQ's plugin. */
  kind: "amqp091" | "amqp10";
  /** Without its credentials and query. */
  url: string;
  queue: string | null;
  address: string | null;
  /** The sender: the second part of the events' type, and the end of the webhook's URL. */
  source: string;
  /** As for webhooks; `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
  mapping: ConnectorMapping;
  /** Maximum unacknowledged messages per node. */
  prefetch: number;
  /** Whether the connector is paused. */
  paused: boolean;
  state: "connecting" | "consuming" | "paused" | "retrying" | "failed";
  last_error: string | null;
  last_error_at: string | null;
  counts: {
    /** Messages received, repetitions included. */
    received: number;
    /** Messages accepted as events, duplicates included. */
    accepted: number;
    /** Messages that became dead letters. */
    mapping_errors: number;
  };
  lag: number | null;
  created_at: string;
  updated_at: string;
}

/** As for webhooks; `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
export interface ConnectorMapping {
  /** The third part of the type. */
  entity: string;
  /** The fourth part of the type. */
  action: string;
  id?: string | null;
  subject?: string | null;
  data?: string | null;
}

export interface DeadLetter {
  /** Id of a delivery, not of its event. */
  id: string;
  event_id: string | null;
  agent_id: string | null;
  /** The whole CloudEvent, or the input that could not be mapped. */
  payload: unknown;
  attempt_count: number;
  dlq_reason: string;
  created_at: string;
  dead_lettered_at: string;
  source: string | null;
}

export interface DeliveryEvent {
  /** Id of a delivery, not of its event. */
  id: string;
  event_id: string;
  /** The whole CloudEvent. */
  payload: Record<string, unknown>;
  /** Delivery attempts so far, from 1. */
  attempt_count: number;
  created_at: string;
  lease_expires_at: string;
  /** Why this agent got it: its interests and the channel feeds that matched. */
  matched: Matched;
}

export type DeviceStatus = {
  state: "waiting";
  /** The code to type: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** Scopes of the device's key: at most those of the caller. Default: all of these except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
} | {
  state: "verifying";
  /** The code to type: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  client_info: ClientInfo;
  claimed_at: string;
  /** Scopes of the device's key: at most those of the caller. Default: all of these except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  /** The claim to confirm; shown only to people. */
  claim_id?: string;
} | {
  state: "connected";
  /** The code to type: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  client_info: ClientInfo;
  claimed_at: string;
  /** Scopes of the device's key: at most those of the caller. Default: all of these except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  session_id: string;
  confirmed_at: string;
} | {
  state: "denied";
  /** The code to type: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** Scopes of the device's key: at most those of the caller. Default: all of these except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
} | {
  state: "expired";
  /** The code to type: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** Scopes of the device's key: at most those of the caller. Default: all of these except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
};

export interface Document {
  document_id: string;
  filename: string;
  mime_type: "application/pdf" | "application/vnd.openxmlformats-officedocument.wordprocessingml.document" | "application/vnd.openxmlformats-officedocument.presentationml.presentation" | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" | "text/html" | "text/markdown" | "text/plain";
  status: "queued" | "chunking" | "embedding" | "stored" | "failed" | "superseded";
  error: string | null;
  byte_size: number;
  chunk_count: number;
  /** `confidential` and `restricted` are for the uploader and its team only. */
  sensitivity: "public" | "internal" | "confidential" | "restricted";
  audience: Audience;
  subject: string | null;
  /** Its version among the documents of this name. */
  version_num: number;
  superseded_by: string | null;
  agent_id: string | null;
  user_id: string | null;
  team_id: string | null;
  created_at: string;
  ingested_at: string | null;
  ingestion_source_id: string;
  ingestion_source_name: string;
}

/** Rows by kind; bundles and handoffs count if they named an erased memory. */
export interface ErasedMemories {
  memories: number;
  documents: number;
  chunks: number;
  vectors?: number;
  relationships: number;
  citations: number;
  merge_proposals: number;
  findings: number;
  bundles: number;
  handoffs: number;
}

export interface EventReceiver {
  delivery_id: string;
  agent_id: string;
  state: string;
  attempt_count: number;
  matched: {
    interest_ids: Array<string>;
    feed_ids: Array<string>;
  };
  timeline: Array<TimelineEntry>;
}

export interface EventSummary {
  /** The service's id of the event. */
  event_id: string;
  /** `parked`: fan-out failed five times; an admin may retry it. */
  state: "accepted" | "fanned_out" | "parked";
  accepted_at: string;
  fanned_out_at: string | null;
  matched_count: number | null;
  /** How often another source used its id. */
  duplicate_sources: number;
  publisher_id: string | null;
  /** A CloudEvents 1.0 envelope. Other names are extension attributes, of lower-case letters and digits: strings without control characters, booleans or 32-bit integers. */
  payload: CloudEvent;
}

export interface Exemplar {
  id: string;
  display_name: string;
  original_filename: string;
  media_type: "text/markdown" | "text/plain";
  byte_size: number;
  extraction_status: "ready" | "processing" | "failed";
  extracted_text: string | null;
  extraction_error: string | null;
  created_at: string;
  updated_at: string;
}

export interface Feed {
  id: string;
  channel_id: string;
  /** Shell-style glob over event types: `*` any run of characters (dots too), `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type_glob: string;
  filter_expression: string | null;
  created_at: string;
}

export interface Finding {
  /** Its position in the tenant's sequence. */
  seq: number;
  memory_id: string;
  title: string;
  /** The start of its content. */
  summary: string;
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  importance: number;
  confidence: number;
  /** Promoted to the institution, or written with that scope directly. */
  origin: "promoted" | "created";
  from_scope: "agent" | "team" | "institutional" | null;
  recorded_at: string;
  by_agent_id: string | null;
}

export interface GivenPointer {
  uri?: string | null;
  provider?: string | null;
  native_id?: string | null;
  display_name?: string | null;
}

export interface GivenRunStep {
  step_key: string;
  title?: string;
  role?: string | null;
  specialist_name?: string | null;
  instructions?: string | null;
  /** Steps that must be completed or skipped first. */
  depends_on?: Array<string>;
  /** Attested one by one; the last completes the step. */
  completion_criteria?: Array<{
    key: string;
    description: string;
  }>;
  expected_artifact_kinds?: Array<string>;
  reference_pointer?: GivenPointer | null;
  reference_note?: string | null;
  due_in_seconds?: number | null;
  /** Default: `handoff_accepted` if a successor is assigned to a different person, else `attestation`. */
  completion_mode?: "attestation" | "handoff_accepted";
  assigned_user_id?: string | null;
}

export interface GivenTemplateStep {
  step_key: string;
  title?: string;
  role?: string | null;
  specialist_name?: string | null;
  instructions?: string | null;
  /** Steps that must be completed or skipped first. */
  depends_on?: Array<string>;
  /** Attested one by one; the last completes the step. */
  completion_criteria?: Array<{
    key: string;
    description: string;
  }>;
  expected_artifact_kinds?: Array<string>;
  reference_pointer?: GivenPointer | null;
  reference_note?: string | null;
  due_in_seconds?: number | null;
  /** `handoff_accepted` without criteria: the step completes when a successor accepts a handoff offer. */
  completion_mode: "attestation" | "handoff_accepted";
}

export interface Handoff {
  id: string;
  agent_id: string;
  name: string;
  summary: string;
  /** Other fields are kept and appear in the brief. */
  payload: {
    completed?: string | Array<string> | null;
    remaining?: string | Array<string> | null;
    blockers?: string | Array<string> | null;
    decisions?: Array<HandoffDecision> | null;
    rejected_options?: Array<string | HandoffDecision> | null;
    next_action?: string | Array<string> | null;
    context_notes?: string | Array<string> | null;
    [name: string]: unknown;
  };
  citations: Array<{
    memory_id: string;
    /** The memory's title at the time of saving; empty if it could not be read. */
    title: string;
  }>;
  artifacts: Array<string>;
  origin_client: string | null;
  scope: "agent";
  /** Increases with every save. */
  version_num: number;
  pinned_at: string | null;
  last_resumed_at: string | null;
  /** When it expires, unless it is pinned. */
  expires_at: string;
  created_at: string;
  /** When it was last saved. */
  updated_at: string;
  bundle_id: string | null;
}

export interface HandoffCandidates {
  candidates: Array<{
    id: string;
    name: string;
    summary: string;
    score: number;
    updated_at: string;
  }>;
}

export interface HandoffDecision {
  title: string;
  rationale?: string | null;
  [name: string]: unknown;
}

export interface HandoffOffer {
  id: string;
  run_id: string;
  step_key: string;
  handoff_id: string | null;
  note: string | null;
  status: "open" | "accepted" | "declined";
  offered_by: {
    actor_kind: "agent" | "user";
    actor_id: string;
  };
  decided_by: {
    actor_kind: "agent" | "user";
    actor_id: string;
  } | null;
  created_at: string;
  decided_at: string | null;
}

export interface Interest {
  id: string;
  agent_id: string;
  /** Shell-style glob over event types: `*` any run of characters (dots too), `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type: string;
  filter_expression: string | null;
  /** 9 is delivered first. */
  priority: number;
  /** Whether deliveries carry the receiver's best memories about the event's subject and type, as `payload.enrichment.memories`: `shallow` three with id, title and score, `deep` ten with content. A late or failed search does not delay deliveries: `payload.enrichment.degraded` is then true, with reasons. */
  enrichment_depth: "none" | "shallow" | "deep";
  filter_suspended_until: string | null;
  created_at: string;
  updated_at: string;
}

export interface Limits {
  /** Per agent or person, for all of them together, and for signed webhooks. */
  requests_per_minute: {
    caller: number | null;
    tenant: number | null;
    webhooks: number | null;
  };
  emails_per_hour: number | null;
  storage: Storage;
  largest_bytes: {
    event: number;
    document: number;
    output: number | null;
  };
  /** Defaults for agents that set none. */
  delivery: {
    visibility_timeout_seconds: number;
    retry_budget: number;
  };
  /** How long finished items can be read, or deletions undone. */
  kept_days: {
    events: number;
    event_ids: number;
    acknowledged_deliveries: number;
    forgotten_memories: number;
    audit: number;
  };
}

/** Each is a literal, a JSON Pointer into the payload (`/issue/number`) or a header of the delivery (`header:X-GitHub-Event`). The event's type is `com.<source>.<entity>.<action>` in lower case; within a part each run of characters other than letters, digits, `_` and `-` becomes one `_`. */
export interface Mapping {
  /** The third part of the type. */
  entity: string;
  /** The fourth part of the type. */
  action: string;
  id?: string | null;
  subject?: string | null;
  data?: string | null;
}

/** Why this agent got it: its interests and the channel feeds that matched. */
export interface Matched {
  interest_ids: Array<string>;
  feed_ids: Array<string>;
}

export interface Member {
  channel_id: string;
  agent_id: string;
  joined_at: string;
}

export interface Memory {
  id: string;
  tenant_id: string;
  agent_id: string | null;
  user_id: string | null;
  /** The readers: the owner, the team, or the whole tenant. It can only be widened. */
  scope: "agent" | "team" | "institutional";
  team_id: string | null;
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  status: "active" | "forgotten" | "superseded" | "merged";
  title: string;
  content: string;
  /** Certainty; independent of importance. */
  confidence: number;
  /** Relevance; independent of confidence. */
  importance: number;
  /** Free-form data of the caller: at most 64 KB as JSON. */
  metadata: Record<string, unknown>;
  source_type: string | null;
  source_id: string | null;
  source_url: string | null;
  source_event_id: string | null;
  freshness_date: string | null;
  expires_at: string | null;
  project_id: string | null;
  tags: Array<string>;
  supersedes_id: string | null;
  invalid_at: string | null;
  superseded_by: string | null;
  created_at: string;
  updated_at: string;
  accessed_at: string;
}

export interface MemoryHealth {
  /** Pairs proposed for merging. */
  duplicate_count: number;
  /** Active memories without relationships. */
  orphan_count: number;
  /** Memories whose freshness date is over 90 days old. */
  stale_count: number;
  /** For the whole tenant: memories without an embedding yet, found only by their text. Null if search is unavailable. */
  embed_gap_count: number | null;
  /** Memories of the type `reflection`. */
  reflection_count: number;
  /** Memories by the time since they were last read. */
  decay_distribution: Record<string, number>;
}

export interface MemoryWithUsage {
  id: string;
  tenant_id: string;
  agent_id: string | null;
  user_id: string | null;
  /** The readers: the owner, the team, or the whole tenant. It can only be widened. */
  scope: "agent" | "team" | "institutional";
  team_id: string | null;
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  status: "active" | "forgotten" | "superseded" | "merged";
  title: string;
  content: string;
  /** Certainty; independent of importance. */
  confidence: number;
  /** Relevance; independent of confidence. */
  importance: number;
  /** Free-form data of the caller: at most 64 KB as JSON. */
  metadata: Record<string, unknown>;
  source_type: string | null;
  source_id: string | null;
  source_url: string | null;
  source_event_id: string | null;
  freshness_date: string | null;
  expires_at: string | null;
  project_id: string | null;
  tags: Array<string>;
  supersedes_id: string | null;
  invalid_at: string | null;
  superseded_by: string | null;
  created_at: string;
  updated_at: string;
  accessed_at: string;
  usage: Usage;
}

export interface MergeProposal {
  id: string;
  tenant_id: string;
  proposer_user_id: string | null;
  proposer_agent_id: string | null;
  memory_a_id: string;
  memory_b_id: string;
  surviving_memory_id: string | null;
  status: "open" | "resolved" | "rejected";
  similarity: number | null;
  proposed_at: string;
  resolved_at: string | null;
  resolved_by_user_id: string | null;
  resolution_note: string | null;
}

export interface OnboardingGuidance {
  dismissed_at: string | null;
  all_complete: boolean;
  /** False for an agent without an owner: the guidance is then general, without steps. */
  personalized: boolean;
  completed_steps: number;
  total_steps: number;
  steps: Array<{
    key: "connect_agent" | "declare_interest" | "publish_event" | "acknowledge_delivery" | "create_memory" | "search_memory" | "save_handoff" | "complete_run";
    status: "todo" | "done";
    /** Derived from the data of the organisation. */
    source: "derived";
  }>;
  next_action: {
    key: "connect_agent" | "declare_interest" | "publish_event" | "acknowledge_delivery" | "create_memory" | "search_memory" | "save_handoff" | "complete_run";
    ccode: "Connect" | "Capture" | "Consult" | "Continue" | "Complete";
    title: string;
    /** A prompt to give to an agent. */
    suggested_prompt: string;
  } | null;
}

export interface Output {
  id: string;
  tenant_id: string;
  agent_id: string | null;
  user_id: string | null;
  project_id: string | null;
  /** The readers: the owner, a team, or the whole tenant. Set by the first save. */
  scope: "agent" | "team" | "institutional";
  team_id: string | null;
  title: string;
  slug: string;
  source_type: string | null;
  /** The storage of the text. */
  bucket: string;
  object_key: string;
  /** SHA-256 of the text in hex. */
  content_hash: string;
  byte_size: number;
  content_type: string;
  metadata: Record<string, unknown>;
  tags: Array<string>;
  derived_from_ids: Array<string>;
  references_ids: Array<string>;
  supersedes_ids: Array<string>;
  superseded_by: string | null;
  current_version_num: number;
  created_at: string;
  updated_at: string;
  process_run_id: string | null;
  body: string | null;
}

export interface OutputVersion {
  id: string;
  output_id: string;
  version_num: number;
  title: string;
  content_hash: string;
  byte_size: number;
  content_type: string;
  change_note: string | null;
  authored_by_agent_id: string | null;
  authored_by_user_id: string | null;
  authored_by_specialist_id: string | null;
  created_at: string;
  body: string | null;
}

export interface Pointer {
  uri?: string | null;
  provider?: string | null;
  native_id?: string | null;
  display_name?: string | null;
}

export interface Position {
  run: Run;
  my_next: PositionStep | null;
  /** Steps that can be worked on: ready or in progress. */
  ready_steps: Array<PositionStep>;
  blocked_steps: Array<PositionStep>;
  last_completed: {
    step_key: string;
    actor_kind: "agent" | "user";
    actor_id: string;
    at: string;
    handoff_offer_id: string | null;
  } | null;
  stale_steps: Array<PositionStep>;
}

export interface PositionStep {
  step_key: string;
  title: string;
  role: string | null;
  assigned_user_id: string | null;
  /** `ready`: everything it depends on is completed or skipped; `blocked`: not yet. */
  status: "blocked" | "ready" | "in_progress" | "completed" | "skipped";
  completion_mode: "attestation" | "handoff_accepted";
  why_ready: string | null;
  completion_criteria: Array<{
    key: string;
    description: string;
  }>;
  waiting_on: Array<string>;
  ordinal: number;
  ready_at: string | null;
  in_progress_since: string | null;
  stale_since: string | null;
  stale_reason: string | null;
  open_attempts: Array<{
    actor_kind: "agent" | "user";
    actor_id: string;
    started_at: string;
  }>;
}

export interface ProcessTemplate {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  goal_template: string | null;
  version_num: number;
  steps: Array<TemplateStep>;
  created_at: string;
}

export interface Project {
  id: string;
  tenant_id: string;
  /** Letters, digits, `.`, `_` and `-`; not a UUID. Other operations take it as `project_id`. Immutable. */
  key: string;
  name: string;
  status: "active" | "completed" | "archived";
  target_date: string | null;
  /** Created for rows that named it before it existed. */
  created_from_backfill: boolean;
  created_at: string;
  updated_at: string;
}

export interface PublishResult {
  /** The service's id of the event. */
  event_id: string;
  /** `duplicate`: the id is known; `event_id` is the original's. */
  status: "accepted" | "duplicate";
}

export interface RecentEvent {
  event_id: string;
  type: string;
  source: string;
  subject: string | null;
  state: string;
  matched_count: number | null;
  accepted_at: string;
}

/** The error of one event of a batch. */
export interface RejectedEvent {
  status: "rejected";
  error: {
    code: string;
    message: string;
    details: Record<string, unknown>;
  };
}

export interface Relationship {
  id: string;
  tenant_id: string;
  source_memory_id: string;
  target_memory_id: string;
  /** One of `GET /relationship-types`; the list grows without a change of this API. */
  relationship_type: string;
  strength: number;
  metadata: Record<string, unknown> | null;
  created_at: string;
}

export interface RelationshipType {
  /** One of `GET /relationship-types`; the list grows without a change of this API. */
  name: string;
  description: string;
  inverse: string | null;
}

export interface Run {
  id: string;
  goal: string;
  project_id: string | null;
  status: "active" | "completed" | "closed";
  initiated_by: {
    id: string;
    display_name: string;
  };
  template_id: string | null;
  created_at: string;
  updated_at: string;
  success_criteria: Array<string>;
  ambiguity_score: number | null;
  ambiguity_notes: Array<{
    dimension: string;
    score?: number | null;
    min?: number | null;
    status?: string | null;
    note?: string | null;
  }>;
  exemplar_ids: Array<string>;
  outcome: "achieved" | "partially_achieved" | "abandoned" | null;
  closed_by_user_id: string | null;
  close_note: string | null;
  closed_at: string | null;
  steps: Array<RunStep>;
}

export interface RunArtifact {
  id: string;
  run_id: string;
  step_record_id: string | null;
  kind: string;
  pointer: Pointer;
  snapshot_object_key: string | null;
  content_hash: string | null;
  byte_size: number | null;
  mime_type: string | null;
  snapshotted_at: string | null;
  created_at: string;
  updated_at: string;
}

export interface RunStep {
  id: string;
  step_key: string;
  /** Its position among the steps, from 1. */
  ordinal: number;
  title: string;
  role: string | null;
  specialist_name: string | null;
  instructions: string | null;
  depends_on: Array<string>;
  completion_criteria: Array<{
    key: string;
    description: string;
  }>;
  /** `handoff_accepted` without criteria: the step completes when a successor accepts a handoff offer. */
  completion_mode: "attestation" | "handoff_accepted";
  expected_artifact_kinds: Array<string>;
  reference_pointer: Pointer | null;
  reference_note: string | null;
  due_in_seconds: number | null;
  assigned_user_id: string | null;
  /** `ready`: everything it depends on is completed or skipped; `blocked`: not yet. */
  status: "blocked" | "ready" | "in_progress" | "completed" | "skipped";
  /** Keys of the criteria that were attested. */
  attested_criteria: Array<string>;
}

export interface RunWithAttempts {
  id: string;
  goal: string;
  project_id: string | null;
  status: "active" | "completed" | "closed";
  initiated_by: {
    id: string;
    display_name: string;
  };
  template_id: string | null;
  created_at: string;
  updated_at: string;
  success_criteria: Array<string>;
  ambiguity_score: number | null;
  ambiguity_notes: Array<{
    dimension: string;
    score?: number | null;
    min?: number | null;
    status?: string | null;
    note?: string | null;
  }>;
  exemplar_ids: Array<string>;
  outcome: "achieved" | "partially_achieved" | "abandoned" | null;
  closed_by_user_id: string | null;
  close_note: string | null;
  closed_at: string | null;
  steps: Array<{
    id: string;
    step_key: string;
    /** Its position among the steps, from 1. */
    ordinal: number;
    title: string;
    role: string | null;
    specialist_name: string | null;
    instructions: string | null;
    depends_on: Array<string>;
    completion_criteria: Array<{
      key: string;
      description: string;
    }>;
    /** `handoff_accepted` without criteria: the step completes when a successor accepts a handoff offer. */
    completion_mode: "attestation" | "handoff_accepted";
    expected_artifact_kinds: Array<string>;
    reference_pointer: Pointer | null;
    reference_note: string | null;
    due_in_seconds: number | null;
    assigned_user_id: string | null;
    /** `ready`: everything it depends on is completed or skipped; `blocked`: not yet. */
    status: "blocked" | "ready" | "in_progress" | "completed" | "skipped";
    /** Keys of the criteria that were attested. */
    attested_criteria: Array<string>;
    attempts: Array<StepAttempt>;
  }>;
}

export interface Session {
  session_id: string;
  /** `active`: seen within 24 hours. */
  state: "active" | "idle";
  client_name: string;
  client_version: string;
  connected_at: string;
  last_activity_at: string;
}

export interface Specialist {
  name: string;
  version_num: number;
  system_prompt: string;
  memory_search_directives: string | null;
  output_format_rules: string | null;
  description: string | null;
}

export interface SpecialistNotLoaded {
  error: {
    /** `not_found` or `unavailable`. */
    code: string;
  };
}

export interface Stats {
  at: string;
  series: {
    /** Length of each count. */
    seconds: number;
    /** Oldest first; the last count is still in progress. */
    published: Array<number>;
    /** Delivery attempts, retries included. */
    delivered: Array<number>;
    /** Oldest first; the last count is still in progress. */
    acknowledged: Array<number>;
  };
  deliveries: {
    pending: number;
    in_flight: number;
    waiting: number;
    dead: number;
    oldest_age_seconds: number | null;
  } | null;
  storage: Storage | null;
  /** The latest events, newest first. */
  recent: Array<RecentEvent>;
  health: {
    status: "ready" | "not_ready";
    checks: Record<string, string>;
  };
}

export interface StepAttempt {
  id: string;
  run_step_id: string;
  actor_kind: "agent" | "user";
  actor_id: string;
  started_at: string;
  ended_at: string | null;
  outcome: "completed" | "skipped" | "reopened" | "closed" | null;
  inbound_handoff_id: string | null;
  bundle_id: string | null;
  notes: string | null;
  created_at: string;
  warning: string | null;
  /** The step's specialist as loaded, or why it could not be; null if it has none. */
  specialist?: Specialist | StepSpecialistError | null;
}

export interface StepSpecialistError {
  code: "not_found" | "unavailable";
  message: string;
}

export interface Storage {
  /** Counted as it grows and measured every hour: deleted data counts until then. */
  used_bytes: number;
  quota_bytes: number | null;
}

export interface Team {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  created_at: string;
}

export interface TemplateStep {
  step_key: string;
  /** Its position among the steps, from 1. */
  ordinal: number;
  title: string;
  role: string | null;
  specialist_name: string | null;
  instructions: string | null;
  depends_on: Array<string>;
  completion_criteria: Array<{
    key: string;
    description: string;
  }>;
  /** `handoff_accepted` without criteria: the step completes when a successor accepts a handoff offer. */
  completion_mode: "attestation" | "handoff_accepted";
  expected_artifact_kinds: Array<string>;
  reference_pointer: Pointer | null;
  reference_note: string | null;
  due_in_seconds: number | null;
}

export interface TemplateSummary {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  goal_template: string | null;
  version_num: number;
  step_count: number;
}

export interface Tenant {
  id: string;
  /** Names the tenant in URLs: lower-case letters, digits and inner hyphens, at most 63. */
  slug: string;
  name: string;
  status: "active" | "suspended";
  storage: Storage;
  storage_quota_mb: number | null;
  created_at: string;
  updated_at: string;
}

export interface TimelineEntry {
  at: string;
  what: string;
  reason?: string;
}

export interface Usage {
  /** Citations in the last 30 days, including the owner's. */
  cite_count_30d: number;
  last_cited_at: string | null;
  /** The lowest confidence of the memory and its lineage: the memories that it superseded, absorbed in a merge or was derived from. */
  trust: number;
}

export interface User {
  id: string;
  tenant_id: string;
  email: string;
  display_name: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role: "admin" | "member";
  status: "active" | "disabled";
  created_at: string;
  updated_at: string;
}

export interface Webhook {
  id: string;
  name: string;
  /** The sender: the second part of the events' type, and the end of the webhook's URL. */
  source: string;
  mapping: Mapping | "cloudevents";
  url: string;
  created_at: string;
  updated_at: string;
}

/** For batches: one per event, in order. */
export type WebhookBatchResult = Array<WebhookResult>;

export interface WebhookResult {
  event_id: string | null;
  status: "accepted" | "duplicate" | "dead_lettered";
}
