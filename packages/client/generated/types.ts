// Written by `npm run openapi` from the contracts: change those.
import type { Call, PagedCall, StreamCall } from "../operation.ts";

/** Every operation of the service: `api.<domain>.<operation>(params)`. */
export interface Api {
  agents: {
    /** Make an agent.
     *
     * Its owner is the signed-in person who makes it, unless `owner_user_id` names another.
     *
     * Needs the scope `admin`. */
    create: Call<AgentsCreateParams, AgentsCreateResult>;
    /** List the agents, oldest first.
     *
     * Needs the scope `admin`. */
    list: PagedCall<AgentsListParams, AgentsListResult, AgentsListResult["agents"][number]>;
    /** List the agents that the signed-in person owns, oldest first. */
    listOwn: PagedCall<AgentsListOwnParams, AgentsListOwnResult, AgentsListOwnResult["agents"][number]>;
    /** Read an agent.
     *
     * An agent may read itself and a person the agents it owns; others need the scope `admin`. */
    get: Call<AgentsGetParams, AgentsGetResult>;
    /** Change an agent.
     *
     * An endpoint that resolves to a loopback, link-local or private address is refused.
     *
     * Needs the scope `admin`. */
    update: Call<AgentsUpdateParams, AgentsUpdateResult>;
    /** Deactivate or activate an agent.
     *
     * An inactive agent's tokens are refused within 5 seconds, and stay refused once it is active again: its keys then give new ones. No event matches an inactive agent; what is pending for it stays.
     *
     * Needs the scope `admin`. */
    setStatus: Call<AgentsSetStatusParams, AgentsSetStatusResult>;
    /** Give an agent a new signing secret.
     *
     * Pushes are signed with the previous one too for 24 hours.
     *
     * Needs the scope `admin`. */
    rotateSigningSecret: Call<AgentsRotateSigningSecretParams, AgentsRotateSigningSecretResult>;
  };
  audit: {
    /** List what was done that has to be accounted for, latest first.
     *
     * What administrators and people alone may do, what deletes, what cannot be undone, who changed runs, templates and outputs, which all of a tenant work on together, and who signed in and out. A failed sign-in (`auth.login`, `refused`) stands with each account of its e-mail, once a minute from a network; without its address where there are several tenants and it named none. Kept for `AUDIT_DAYS`.
     *
     * Needs the scope `admin`. */
    list: PagedCall<AuditListParams, AuditListResult, AuditListResult["entries"][number]>;
  };
  auth: {
    /** Exchange an API key for an access token.
     *
     * The key in the body is the credential. The token ends with its key, should that be within the hour. Failures are limited per address.
     *
     * As a form it is the client credentials grant of OAuth 2.0: the key is `client_secret`, or the password of HTTP Basic; `client_id` may be anything. Such requests are refused as OAuth has it, with `error` and `error_description`. */
    token: Call<AuthTokenParams, AuthTokenResult>;
    /** Sign in as a person.
     *
     * The password tells the accounts of an e-mail apart; `tenant_slug` is needed only where it fits several. Failures are limited per address. */
    login: Call<AuthLoginParams, AuthLoginResult>;
    /** Who the token is for. */
    me: Call<AuthMeParams, AuthMeResult>;
    /** Sign out, or end an agent's token.
     *
     * Every token that derives from a person's sign-in is refused within 5 seconds, renewed ones included. Of an agent only this token ends; its key stays good. A key that is sent as the bearer itself is revoked instead. */
    logout: Call<AuthLogoutParams, AuthLogoutResult>;
    /** Change one's own password.
     *
     * All tokens of the person end; the answer has a new one. */
    password: Call<AuthPasswordParams, AuthPasswordResult>;
    /** Sign in a browser.
     *
     * The token is in an httpOnly cookie, good for this origin's own pages only; requests with it that change something carry `X-CSRF-Token`. Limited as a login is. */
    startSession: Call<AuthStartSessionParams, AuthStartSessionResult>;
    /** Who is signed in, and the session's CSRF token. */
    session: Call<AuthSessionParams, AuthSessionResult>;
    /** Go on with a session.
     *
     * For another hour, up to 12 hours from signing in. */
    renewSession: Call<AuthRenewSessionParams, AuthRenewSessionResult>;
    /** Sign a browser out.
     *
     * Every token of the session is refused within 5 seconds, and the cookie is removed. */
    endSession: Call<AuthEndSessionParams, AuthEndSessionResult>;
    /** The public keys of access tokens and receipts (RFC 7517). */
    jwks: Call<AuthJwksParams, AuthJwksResult>;
  };
  bundles: {
    /** Gather what an agent may need for a task.
     *
     * Memories, outputs and the agent's own handoffs that fit the query, or the latest when there is none; kept as they are now, for `BUNDLE_RETENTION_DAYS`, and as long as a handoff or an attempt on a step names the bundle. A kind that cannot be had makes the bundle `degraded`, and no more. Nothing to gather is a bundle too.
     *
     * Needs the scope `memory:read`. */
    assemble: Call<BundlesAssembleParams, BundlesAssembleResult>;
    /** Read a bundle as it was gathered.
     *
     * Needs the scope `memory:read`. */
    get: Call<BundlesGetParams, BundlesGetResult>;
    /** Read a bundle's brief.
     *
     * The bytes that were kept when it was gathered.
     *
     * Needs the scope `memory:read`. */
    brief: Call<BundlesBriefParams, BundlesBriefResult>;
  };
  channels: {
    /** Make a channel.
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
     * What was matched before stays to be delivered.
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
    /** Take the messages of a broker as events.
     *
     * A message is acknowledged only when its event is durable. One in structured mode (`application/cloudevents+json`) is taken as it is; any other must be JSON and is mapped. What cannot be mapped is a dead letter with the reason `mapping error: …`. A tenant may have 50 connectors.
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
    /** Pause a connector, let it go on, or map its messages differently.
     *
     * What it has taken is finished first; the rest stays at the broker. A mapping is replaced as a whole; what the one before could not map can be replayed from the dead letters.
     *
     * Needs the scope `admin`. */
    update: Call<ConnectorsUpdateParams, ConnectorsUpdateResult>;
    /** Delete a connector.
     *
     * What it has taken is finished first; the rest stays at the broker.
     *
     * Needs the scope `admin`. */
    delete: Call<ConnectorsDeleteParams, ConnectorsDeleteResult>;
  };
  deliveries: {
    /** Take the caller's next deliveries.
     *
     * Highest priority first, then oldest; best effort. What is not acknowledged before `lease_expires_at` is given out again. An answer stops at 4 MB of events. `limit` and `wait` outside their range are clamped.
     *
     * Needs the scope `receive`. */
    poll: Call<DeliveriesPollParams, DeliveriesPollResult>;
    /** Acknowledge deliveries.
     *
     * Ids that are acknowledged already, of another agent or unknown are not counted.
     *
     * Needs the scope `receive`. */
    ack: Call<DeliveriesAckParams, DeliveriesAckResult>;
    /** Hand deliveries back, to be given out again later.
     *
     * Without `delay_seconds` after 1 s, 2 s, 4 s … (±20 %, at most 1 h); 0 is at once. The hand-out stays counted: with the budget spent, the delivery is dead-lettered with the reason.
     *
     * Needs the scope `receive`. */
    nack: Call<DeliveriesNackParams, DeliveriesNackResult>;
    /** Keep deliveries that are in flight for longer.
     *
     * The lease ends `seconds` from now. Deliveries that are not in flight are not counted.
     *
     * Needs the scope `receive`. */
    extend: Call<DeliveriesExtendParams, DeliveriesExtendResult>;
    /** Receive deliveries as server-sent events.
     *
     * `event: delivery`, `id:` the delivery's id, `data:` the delivery as in a poll; a comment every 15 s. Acknowledge by `POST /delivery/ack`. Closing the stream returns what it held at once, without counting a hand-out.
     *
     * Needs the scope `receive`. */
    stream: StreamCall<DeliveriesStreamParams>;
    /** List dead letters, latest first.
     *
     * The caller's own; an admin sees the whole tenant's.
     *
     * Needs the scope `receive`. */
    deadLetters: PagedCall<DeliveriesDeadLettersParams, DeliveriesDeadLettersResult, DeliveriesDeadLettersResult["items"][number]>;
    /** Replay a dead letter.
     *
     * The event flows through interests and feeds again: its dead recipient, if it still matches, gets a fresh budget; agents that match now and never had it get it; others are not given it again. What could not be mapped is mapped by the mapping as it is now.
     *
     * Needs the scope `receive`. */
    replay: Call<DeliveriesReplayParams, DeliveriesReplayResult>;
    /** Replay many dead letters.
     *
     * Exactly one of `ids` and `reason` (the exact `dlq_reason`). At most 10,000 a call: `more` tells if others are left.
     *
     * Needs the scope `receive`. */
    replayMany: Call<DeliveriesReplayManyParams, DeliveriesReplayManyResult>;
    /** Delete a dead letter.
     *
     * Needs the scope `receive`. */
    discard: Call<DeliveriesDiscardParams, DeliveriesDiscardResult>;
    /** Counts of deliveries by state.
     *
     * The caller's own. For an admin the tenant's, with one row per agent of the page asked for; `oldest_age_seconds` is then the oldest of these agents.
     *
     * Needs the scope `receive`. */
    stats: Call<DeliveriesStatsParams, DeliveriesStatsResult>;
  };
  devices: {
    /** Issue a code that connects a device to an agent.
     *
     * For the agent itself, its owner, or with the scope `admin`. The code is good for 10 minutes; a newer one for the same agent takes the place of one that is still waiting. */
    issue: Call<DevicesIssueParams, DevicesIssueResult>;
    /** How an agent's newest device code stands.
     *
     * For the agent itself, its owner, or with the scope `admin`. It never shows an API key. */
    status: Call<DevicesStatusParams, DevicesStatusResult>;
    /** Claim a code from the device.
     *
     * The code is the credential. A wrong, used, denied or expired one is always the same 404. Claims and lookups of an address share a budget of `DEVICE_CLAIMS_PER_HOUR`, whatever their outcome. */
    claim: Call<DevicesClaimParams, DevicesClaimResult>;
    /** Approve or reject the device that claimed a code.
     *
     * For the agent's owner and for org admins. A code with the scope `admin` is approved by an org admin alone. */
    confirm: Call<DevicesConfirmParams, DevicesConfirmResult>;
    /** Fetch the API key of an approved claim, once.
     *
     * The claim is the credential. Before the approval it is 409 `conflict`; after a denial, at its end and a second time the same 404. The key is shown only here. */
    complete: Call<DevicesCompleteParams, DevicesCompleteResult>;
    /** Which agent a code is for.
     *
     * Denied, expired and unknown codes are 404. With a token it also shows the scopes, and answers the same 404 to anybody but the agent itself, its owner and admins. Claims and lookups of an address share a budget of `DEVICE_CLAIMS_PER_HOUR`, whatever their outcome. */
    lookUp: Call<DevicesLookUpParams, DevicesLookUpResult>;
  };
  documents: {
    /** Upload a document.
     *
     * It is read, cut into chunks and made searchable afterwards; `status` tells how far that is. The same bytes in the same source are the document that is there (200). Other bytes under the same filename supersede it once they are stored. Without the permission to write: 200 with `accepted: false`.
     *
     * Needs the scope `memory:write`. */
    upload: Call<DocumentsUploadParams, DocumentsUploadResult>;
    /** List documents, newest first.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<DocumentsListParams, DocumentsListResult, DocumentsListResult["documents"][number]>;
    /** Read what is known of a document.
     *
     * Needs the scope `memory:read`. */
    get: Call<DocumentsGetParams, DocumentsGetResult>;
    /** List the chunks of a document in order.
     *
     * Needs the scope `memory:read`. */
    listChunks: PagedCall<DocumentsListChunksParams, DocumentsListChunksResult, DocumentsListChunksResult["chunks"][number]>;
    /** Delete a document and its chunks.
     *
     * What is not there is a result too: `deleted: false`. Only who uploaded it or an admin may.
     *
     * Needs the scope `memory:write`. */
    delete: Call<DocumentsDeleteParams, DocumentsDeleteResult>;
    /** Find chunks of documents by meaning and by words.
     *
     * Only stored documents that the caller may see; superseded ones are not searched.
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
    /** List events, latest first.
     *
     * A caller with `send` sees what it published, an agent with `receive` what it was given, an admin everything. A page may hold fewer events than asked for and still have a `next_cursor`: a request answers at most 4 MB, and looks through some 200,000 events, or for two seconds as long as it has found none. */
    list: PagedCall<EventsListParams, EventsListResult, EventsListResult["events"][number]>;
    /** Read an event and what became of it. */
    get: Call<EventsGetParams, EventsGetResult>;
    /** Fan a parked event out again.
     *
     * Needs the scope `admin`. */
    retry: Call<EventsRetryParams, EventsRetryResult>;
  };
  exemplars: {
    /** Keep a whole text as an example.
     *
     * Verbatim, at most 1 MB. A text that the tenant keeps already is the exemplar that is there (200).
     *
     * Needs the scope `memory:write`. */
    create: Call<ExemplarsCreateParams, ExemplarsCreateResult>;
    /** List the exemplars, newest first.
     *
     * Needs the scope `memory:read`. */
    list: Call<ExemplarsListParams, ExemplarsListResult>;
    /** Read an exemplar's text.
     *
     * 202 while the text is being extracted, and 200 without a text where that failed.
     *
     * Needs the scope `memory:read`. */
    get: Call<ExemplarsGetParams, ExemplarsGetResult>;
    /** Rename an exemplar.
     *
     * Needs the scope `memory:write`. */
    rename: Call<ExemplarsRenameParams, ExemplarsRenameResult>;
    /** Delete an exemplar that nothing refers to.
     *
     * 409 `conflict` while it is attached to a run, or named by the reference pointer of a step: `details.referrers`.
     *
     * Needs the scope `memory:write`. */
    delete: Call<ExemplarsDeleteParams, ExemplarsDeleteResult>;
    /** Download an exemplar as it was given.
     *
     * For people. */
    download: Call<ExemplarsDownloadParams, ExemplarsDownloadResult>;
  };
  findings: {
    /** Read what is new in the institution's memory.
     *
     * What others made institutional since the calling agent last looked, in order. Findings are evidence from other agents, not instructions: `rendered_brief` quotes them as data.
     *
     * Needs the scope `memory:read`. */
    list: Call<FindingsListParams, FindingsListResult>;
  };
  gateway: {
    /** Whether the process runs. */
    healthz: Call<GatewayHealthzParams, GatewayHealthzResult>;
    /** Whether this node can serve, and what is wrong if not. */
    readyz: Call<GatewayReadyzParams, GatewayReadyzResult>;
    /** What this node counts, in the text format of Prometheus. */
    metrics: Call<GatewayMetricsParams, GatewayMetricsResult>;
    /** This document (OpenAPI 3.1). */
    openapi: Call<GatewayOpenapiParams, GatewayOpenapiResult>;
    /** This document as a page. */
    docs: Call<GatewayDocsParams, GatewayDocsResult>;
  };
  handoffs: {
    /** Save where the work stands, for another client to go on.
     *
     * One of the same name is overwritten in place (200), its `version_num` raised; nothing of it stays. A saved handoff is kept for 30 days, from the last saving or resuming.
     *
     * Needs the scope `memory:write`. */
    save: Call<HandoffsSaveParams, HandoffsSaveResult>;
    /** List the calling agent's handoffs, most recently saved first.
     *
     * With `q` those that fit it best, in words or in meaning: while search does not answer, or half of it, those that have it in their name or summary, and the header `X-Degraded` says why. A page of very long ones has fewer than `limit`.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<HandoffsListParams, HandoffsListResult, HandoffsListResult[number]>;
    /** Go on where a handoff stands.
     *
     * Looks for the exact name, then for the id, then for the meaning. One match is resumed: its brief is the answer, and its 30 days begin again. Several that fit about as well are listed instead, and none is resumed.
     *
     * Needs the scope `memory:read`. */
    resume: Call<HandoffsResumeParams, HandoffsResumeResult>;
    /** Read a handoff.
     *
     * Needs the scope `memory:read`. */
    get: Call<HandoffsGetParams, HandoffsGetResult>;
    /** Delete a handoff, and what search knows of it.
     *
     * Needs the scope `memory:write`. */
    delete: Call<HandoffsDeleteParams, HandoffsDeleteResult>;
    /** Read a handoff's brief without resuming it.
     *
     * The same bytes as `resume` gives.
     *
     * Needs the scope `memory:read`. */
    export: Call<HandoffsExportParams, HandoffsExportResult>;
    /** Keep a handoff until it is unpinned or deleted.
     *
     * Needs the scope `memory:write`. */
    pin: Call<HandoffsPinParams, HandoffsPinResult>;
    /** Let a handoff expire again, 30 days from now.
     *
     * Needs the scope `memory:write`. */
    unpin: Call<HandoffsUnpinParams, HandoffsUnpinResult>;
  };
  ingest: {
    /** Let a sender's webhooks in.
     *
     * A tenant may have 50.
     *
     * Needs the scope `admin`. */
    createWebhook: Call<IngestCreateWebhookParams, IngestCreateWebhookResult>;
    /** List the webhooks, oldest first.
     *
     * Needs the scope `admin`. */
    listWebhooks: PagedCall<IngestListWebhooksParams, IngestListWebhooksResult, IngestListWebhooksResult["webhooks"][number]>;
    /** Rename a webhook, or map what comes by it differently.
     *
     * A mapping is replaced as a whole and holds for what comes from then on. What the one before could not map can be replayed from the dead letters.
     *
     * Needs the scope `admin`. */
    updateWebhook: Call<IngestUpdateWebhookParams, IngestUpdateWebhookResult>;
    /** Take no more webhooks of a registration.
     *
     * Events that came by it stay.
     *
     * Needs the scope `admin`. */
    deleteWebhook: Call<IngestDeleteWebhookParams, IngestDeleteWebhookResult>;
    /** Give a webhook a new signing secret.
     *
     * The one before is accepted too for 24 hours.
     *
     * Needs the scope `admin`. */
    rotateWebhook: Call<IngestRotateWebhookParams, IngestRotateWebhookResult>;
    /** See what a webhook makes of a payload.
     *
     * Nothing is published, and no signature is asked for.
     *
     * Needs the scope `admin`. */
    testWebhook: Call<IngestTestWebhookParams, IngestTestWebhookResult>;
    /** Deliver a webhook of any of the tenant's sources.
     *
     * Signed with the secret of a registration: `X-Service-Signature` (or GitHub's `X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without `sha256=` before it; or the headers of Standard Webhooks (`webhook-…`, or `svix-…`), or `Stripe-Signature`, whose timestamps may be 5 minutes off. Whatever is not signed, to whichever address, is the same 401. What cannot be mapped is accepted as a dead letter. */
    receive: Call<IngestReceiveParams, IngestReceiveResult>;
    /** Deliver a webhook of one source.
     *
     * Signed with the secret of a registration: `X-Service-Signature` (or GitHub's `X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without `sha256=` before it; or the headers of Standard Webhooks (`webhook-…`, or `svix-…`), or `Stripe-Signature`, whose timestamps may be 5 minutes off. Whatever is not signed, to whichever address, is the same 401. What cannot be mapped is accepted as a dead letter. */
    receiveFrom: Call<IngestReceiveFromParams, IngestReceiveFromResult>;
    /** Ask for permission to deliver webhooks of any of the tenant's sources.
     *
     * The handshake of the CloudEvents specification Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is answered with `WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the `WebHook-Request-Rate` that was asked for, or `*`). Every address answers the same, whether it is registered or not: what is delivered has to be signed. A `WebHook-Request-Callback` is not called. */
    validate: Call<IngestValidateParams, IngestValidateResult>;
    /** Ask for permission to deliver webhooks of one source.
     *
     * The handshake of the CloudEvents specification Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is answered with `WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the `WebHook-Request-Rate` that was asked for, or `*`). Every address answers the same, whether it is registered or not: what is delivered has to be signed. A `WebHook-Request-Callback` is not called. */
    validateFor: Call<IngestValidateForParams, IngestValidateForResult>;
  };
  interests: {
    /** Declare an interest.
     *
     * Events match when both the type glob and the filter hold. A filter that does not compile is `validation_error` with `details.position`. Agents and organisations have a limit (`MAX_INTERESTS_PER_AGENT`, `MAX_INTERESTS_PER_TENANT`), beyond which `details.rule` is `interest_limit`.
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
    /** Change an interest.
     *
     * Events that are published after the answer are matched by the change. A filter that does not compile is `validation_error` with `details.position`.
     *
     * Needs the scope `receive`. */
    update: Call<InterestsUpdateParams, InterestsUpdateResult>;
    /** Withdraw an interest.
     *
     * What was matched before stays to be delivered.
     *
     * Needs the scope `receive`. */
    delete: Call<InterestsDeleteParams, InterestsDeleteResult>;
    /** Try an interest on the last events.
     *
     * Runs a candidate against the tenant's last 100 events (of large ones fewer), and saves nothing.
     *
     * Needs the scope `receive`. */
    test: Call<InterestsTestParams, InterestsTestResult>;
  };
  keys: {
    /** Make an API key for an agent.
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
     * The tokens that were made with it are refused within 5 seconds.
     *
     * Needs the scope `admin`. */
    revoke: Call<KeysRevokeParams, KeysRevokeResult>;
  };
  live: {
    /** How the organisation's events flow now.
     *
     * Counts of the last 15 minutes, of the nodes that run. `deliveries`, `storage` and `recent` are for admins; others get null and nothing. */
    stats: Call<LiveStatsParams, LiveStatsResult>;
    /** The same as it changes, as server-sent events.
     *
     * `event: stats` with the data of `GET /stats`, at once and every 2 seconds. `event: changed` with `{resource, ids}` soon after runs, documents, devices or connectors changed; `ids` are of runs only, and none where there are many. Some change may go untold when a node dies. */
    watch: StreamCall<LiveWatchParams>;
  };
  memories: {
    /** Erase memories for good.
     *
     * For data-protection requests: exactly one of `agent_id`, `ids` and `subject`. Whatever their scope and status, with their vectors, relationships and everything else that is kept of them; by `subject` also the documents that were uploaded about it, with their files and chunks, and what was remembered from these. It answers when the bytes are gone from the files of the service too, and is finished after a crash. `receipt` is a JWS of the service (`/.well-known/jwks.json`). With `dry_run` nothing is erased and what can be counted before is. Again erases what is left.
     *
     * Needs the scope `memory:write`. */
    erase: Call<MemoriesEraseParams, MemoriesEraseResult>;
    /** List memories.
     *
     * All that the caller may see and that are in force: not the expired, forgotten, superseded or merged. A page of very long ones may hold fewer than `limit`; `next_cursor` goes on after it.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<MemoriesListParams, MemoriesListResult, MemoriesListResult["memories"][number]>;
    /** Remember something.
     *
     * It is found by its text as soon as this is answered.
     *
     * Needs the scope `memory:write`. */
    create: Call<MemoriesCreateParams, MemoriesCreateResult>;
    /** Remember many things.
     *
     * Each on its own: one that is refused leaves the others alone. Results come in order.
     *
     * Needs the scope `memory:write`. */
    createBatch: Call<MemoriesCreateBatchParams, MemoriesCreateBatchResult>;
    /** Read a memory.
     *
     * A forgotten or expired one only its owner may read, until it is purged.
     *
     * Needs the scope `memory:read`. */
    get: Call<MemoriesGetParams, MemoriesGetResult>;
    /** Change a memory.
     *
     * What is left out stays; null clears. Only the owner or an org admin.
     *
     * Needs the scope `memory:write`. */
    update: Call<MemoriesUpdateParams, MemoriesUpdateResult>;
    /** Let more read a memory.
     *
     * From agent to team or institution, from team to institution. Only the owner or an org admin.
     *
     * Needs the scope `memory:write`. */
    promote: Call<MemoriesPromoteParams, MemoriesPromoteResult>;
    /** Forget a memory.
     *
     * It is found on no path from then on, and purged after the reversibility window. What it superseded stays superseded. Only the owner or an org admin; again is the same answer.
     *
     * Needs the scope `memory:write`. */
    forget: Call<MemoriesForgetParams, MemoriesForgetResult>;
    /** Take a forgotten memory back.
     *
     * Within the reversibility window, to what it was when it was forgotten. Only the owner or an org admin.
     *
     * Needs the scope `memory:write`. */
    restore: Call<MemoriesRestoreParams, MemoriesRestoreResult>;
    /** Replace a memory by another.
     *
     * Only the owner of the replaced memory or an org admin. The successor must be at least as visible, and neither superseded or forgotten yet.
     *
     * Needs the scope `memory:write`. */
    supersede: Call<MemoriesSupersedeParams, MemoriesSupersedeResult>;
    /** Explain where a memory comes from.
     *
     * Needs the scope `memory:read`. */
    lineage: Call<MemoriesLineageParams, MemoriesLineageResult>;
    /** Search memories by words and by meaning.
     *
     * Of all that the caller may see, what fits the query best; near-ties rank agent, then team, then institutional. When the vectors of the query cannot be had in time, words alone decide, and the answer is `degraded`.
     *
     * Needs the scope `memory:read`. */
    search: Call<MemoriesSearchParams, MemoriesSearchResult>;
    /** Say that a memory was of use.
     *
     * One citation counts for each caller, memory and day (UTC). Citations by others than the owner raise the memory's rank for 30 days. Published as `memory.cited`.
     *
     * Needs the scope `memory:read`. */
    cite: Call<MemoriesCiteParams, MemoriesCiteResult>;
    /** List where in documents a memory comes from.
     *
     * Only of documents that the caller may see.
     *
     * Needs the scope `memory:read`. */
    citations: Call<MemoriesCitationsParams, MemoriesCitationsResult>;
    /** Read what an agent cited, and how useful its memories were, in the last 30 days.
     *
     * For the agent itself, the person who owns it, and admins. Latest first.
     *
     * Needs the scope `memory:read`. */
    activity: PagedCall<MemoriesActivityParams, MemoriesActivityResult, MemoriesActivityResult["activity"][number]>;
    /** Read how the memories that the caller may read are doing.
     *
     * Where there are more than 100,000, it is of those that changed last.
     *
     * Needs the scope `memory:read`. */
    health: Call<MemoriesHealthParams, MemoriesHealthResult>;
  };
  merges: {
    /** Propose to merge two memories.
     *
     * For whoever sees both. Two memories have one open proposal: one that the service made becomes the caller's.
     *
     * Needs the scope `memory:write`. */
    propose: Call<MergesProposeParams, MergesProposeResult>;
    /** List merge proposals, latest first.
     *
     * Those of memories that the caller may both read; all of them for org admins, who decide.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<MergesListParams, MergesListResult, MergesListResult["merge_proposals"][number]>;
    /** Read a merge proposal.
     *
     * Needs the scope `memory:read`. */
    get: Call<MergesGetParams, MergesGetResult>;
    /** Merge two memories.
     *
     * The other memory gets the status `merged`; the surviving one may get new content. It must be at least as visible as the other: else 422, rule `scope_only_widens`.
     *
     * Needs the scope `memory:write`. */
    resolve: Call<MergesResolveParams, MergesResolveResult>;
    /** Leave two memories as they are.
     *
     * Needs the scope `memory:write`. */
    reject: Call<MergesRejectParams, MergesRejectResult>;
  };
  onboarding: {
    /** What to try next.
     *
     * Each step is done once the organisation has done it, and stays done. */
    get: Call<OnboardingGetParams, OnboardingGetResult>;
    /** Put the guidance away.
     *
     * For the person, or for the person who owns the agent. The first time counts. */
    dismiss: Call<OnboardingDismissParams, OnboardingDismissResult>;
  };
  outputs: {
    /** Download an output as a file.
     *
     * For people. The current version: `md` as it was saved, `html` without anything that could run; `pdf` and `docx` where the operator lets them be made (404 elsewhere). */
    export: Call<OutputsExportParams, OutputsExportResult>;
    /** Send an output by e-mail.
     *
     * For people. The text stands in the mail; with `attach_format` it is attached as a file too. 404 where the operator does not let mail be sent, 503 where no server for it is set. */
    email: Call<OutputsEmailParams, OutputsEmailResult>;
    /** Save an output, or a new version of one.
     *
     * The text is kept byte for byte and may have any length. With `output_id` a new version is saved: what else is given replaces what was there, and earlier versions stay as they are. As `text/markdown` the body is the text, and the other fields stand in the query.
     *
     * Needs the scope `memory:write`. */
    save: Call<OutputsSaveParams, OutputsSaveResult>;
    /** List outputs.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<OutputsListParams, OutputsListResult, OutputsListResult["outputs"][number]>;
    /** Read an output.
     *
     * With `version` the text and title of that version.
     *
     * Needs the scope `memory:read`. */
    get: Call<OutputsGetParams, OutputsGetResult>;
    /** File an output under another project, or tag it.
     *
     * Null unfiles it. Tags are for people: an agent's are refused.
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
    /** Find outputs by words and by meaning.
     *
     * Each output once, with the passage that fits best. Superseded ones are found where they are asked for, below what took their place; those of archived projects where they are asked for.
     *
     * Needs the scope `memory:read`. */
    search: Call<OutputsSearchParams, OutputsSearchResult>;
  };
  projects: {
    /** List projects, by key.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<ProjectsListParams, ProjectsListResult, ProjectsListResult["projects"][number]>;
    /** Make a project.
     *
     * Needs the scope `admin`. */
    create: Call<ProjectsCreateParams, ProjectsCreateResult>;
    /** Rename, date, complete or archive a project.
     *
     * Needs the scope `admin`. */
    update: Call<ProjectsUpdateParams, ProjectsUpdateResult>;
  };
  relationships: {
    /** Relate a memory to another.
     *
     * An edge of one type is there once: the same again is `conflict`.
     *
     * Needs the scope `memory:write`. */
    create: Call<RelationshipsCreateParams, RelationshipsCreateResult>;
    /** List the relationships of a memory, both directions, oldest first.
     *
     * One hop. Only those whose other end the caller may read and that is neither forgotten nor expired. `SUPERSEDES`, `DERIVED_FROM` and other types in capitals were recorded by the service.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<RelationshipsListParams, RelationshipsListResult, RelationshipsListResult["relationships"][number]>;
    /** Remove a relationship.
     *
     * For whoever made it, the owner of the memory that it starts from, and org admins. What the service recorded stays.
     *
     * Needs the scope `memory:write`. */
    delete: Call<RelationshipsDeleteParams, RelationshipsDeleteResult>;
    /** Read what a memory is related to, some hops far.
     *
     * Needs the scope `memory:read`. */
    graph: Call<RelationshipsGraphParams, RelationshipsGraphResult>;
    /** List the types of relationship.
     *
     * Needs the scope `memory:read`. */
    types: Call<RelationshipsTypesParams, RelationshipsTypesResult>;
  };
  runs: {
    /** Register what a run brought forth.
     *
     * The pointer is kept, never followed. `step_record_id`: the attempt, completion, skip or reopening it belongs to. A run has at most 1000 artifacts: one more is 422, rule `run_limit`.
     *
     * Needs the scope `memory:write`. */
    registerArtifact: Call<RunsRegisterArtifactParams, RunsRegisterArtifactResult>;
    /** List what a run brought forth, oldest first.
     *
     * Needs the scope `memory:read`. */
    listArtifacts: PagedCall<RunsListArtifactsParams, RunsListArtifactsResult, RunsListArtifactsResult["artifacts"][number]>;
    /** Attach an exemplar to a run.
     *
     * As long as it is attached it cannot be deleted. Attaching it again changes nothing.
     *
     * Needs the scope `memory:write`. */
    attachExemplar: Call<RunsAttachExemplarParams, RunsAttachExemplarResult>;
    /** Offer a step's result to whoever does a next one.
     *
     * A run has at most 1000 offers, with 4 MB of notes: one more is 422, rule `run_limit`.
     *
     * Needs the scope `memory:write`. */
    offerHandoff: Call<RunsOfferHandoffParams, RunsOfferHandoffResult>;
    /** List a run's hand-off offers, oldest first.
     *
     * Needs the scope `memory:read`. */
    listOffers: Call<RunsListOffersParams, RunsListOffersResult>;
    /** Accept an offer.
     *
     * The offering step is completed, and an attempt opened on the successor that is the caller's: of those that are not done the one assigned to them (for an agent: to its owner), else the first unassigned one. Where each is another person's it is 403 `forbidden`; while a successor waits for other steps too, `attempt` is null.
     *
     * Needs the scope `memory:write`. */
    acceptOffer: Call<RunsAcceptOfferParams, RunsAcceptOfferResult>;
    /** Decline an offer.
     *
     * Needs the scope `memory:write`. */
    declineOffer: Call<RunsDeclineOfferParams, RunsDeclineOfferResult>;
    /** Begin a run.
     *
     * From a template, whose steps are copied as they are, or from steps of its own. `step_assignments` go with a template alone. Once it was changed 10000 times a run can only be closed: else it is 422, rule `run_limit`. So is a note or evidence with which those of all its steps would take more than 4 MB.
     *
     * Needs the scope `memory:write`. */
    create: Call<RunsCreateParams, RunsCreateResult>;
    /** List the tenant's runs, newest first.
     *
     * All of them, whoever began them, as a bare array. With `limit` by the page, of long ones fewer: `offset` goes on, and the header `X-Total-Count` says how many there are.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<RunsListParams, RunsListResult, RunsListResult[number]>;
    /** Read a run, its steps and their attempts.
     *
     * Needs the scope `memory:read`. */
    get: Call<RunsGetParams, RunsGetResult>;
    /** Where a run stands, and what the caller could do next.
     *
     * `my_next`: the first ready step assigned to the caller, for an agent to its owner; else the first unassigned one.
     *
     * Needs the scope `memory:read`. */
    position: Call<RunsPositionParams, RunsPositionResult>;
    /** Close a run with its outcome.
     *
     * Once; its steps stay as they are then. A second time is 409 `conflict`.
     *
     * Needs the scope `memory:write`. */
    close: Call<RunsCloseParams, RunsCloseResult>;
    /** What a closed run's steps took, and what made them done.
     *
     * `elapsed_seconds` from ready to done, `active_seconds` while in progress; null where a step is not so far. Of one that was reopened both count each time. For a run that is open: 409 `conflict`.
     *
     * Needs the scope `memory:read`. */
    retrospective: Call<RunsRetrospectiveParams, RunsRetrospectiveResult>;
    /** The steps that are completed, in the order they were.
     *
     * Needs the scope `memory:read`. */
    history: Call<RunsHistoryParams, RunsHistoryResult>;
    /** A run as a Markdown document.
     *
     * Byte for byte the same as long as nothing happened in the run.
     *
     * Needs the scope `memory:read`. */
    statusDocument: Call<RunsStatusDocumentParams, RunsStatusDocumentResult>;
    /** Start a step.
     *
     * Not exclusive: several attempts may be open at once, of which the later are told so (`warning`). While something it depends on is not done, or open again, it is 409 `step_not_ready`.
     *
     * Needs the scope `memory:write`. */
    startStep: Call<RunsStartStepParams, RunsStartStepResult>;
    /** Complete a step, or attest one of its criteria.
     *
     * With `criterion_key` one criterion is attested, and the last of them completes the step: until then `completed_step_key` is null. `artifact_contents` keeps what registered artifacts held.
     *
     * Needs the scope `memory:write`. */
    completeStep: Call<RunsCompleteStepParams, RunsCompleteStepResult>;
    /** Skip a step.
     *
     * What depends on it need not wait for it any more.
     *
     * Needs the scope `memory:write`. */
    skipStep: Call<RunsSkipStepParams, RunsSkipStepResult>;
    /** Open a completed or skipped step again.
     *
     * Successors that were only ready are blocked again; those further on are named, and left as they are. A completed run is active again.
     *
     * Needs the scope `memory:write`. */
    reopenStep: Call<RunsReopenStepParams, RunsReopenStepResult>;
    /** Give a step to another person.
     *
     * Or to nobody in particular, by null. Attempts that are open go on, and what completes the step stays as it is. To whom it belongs already changes nothing.
     *
     * Needs the scope `memory:write`. */
    assignStep: Call<RunsAssignStepParams, RunsAssignStepResult>;
  };
  sessions: {
    /** List an agent's connected devices, most recent first.
     *
     * For the agent itself, its owner, or with the scope `admin`. One whose key is revoked is forgotten `SESSION_RETENTION_DAYS` after it was heard of last. */
    list: Call<SessionsListParams, SessionsListResult>;
    /** Disconnect a device.
     *
     * Its key is revoked: its tokens are refused within 5 seconds.
     *
     * Needs the scope `admin`. */
    delete: Call<SessionsDeleteParams, SessionsDeleteResult>;
    /** Say that the device is still there.
     *
     * With a token of the session's own key; once a minute at the most. */
    heartbeat: Call<SessionsHeartbeatParams, SessionsHeartbeatResult>;
  };
  specialists: {
    /** Write a specialist's next version.
     *
     * Earlier versions stay as they are.
     *
     * Needs the scope `admin`. */
    write: Call<SpecialistsWriteParams, SpecialistsWriteResult>;
    /** List the specialists by name.
     *
     * Needs the scope `memory:read`. */
    list: Call<SpecialistsListParams, SpecialistsListResult>;
    /** Load a specialist's latest version.
     *
     * One that is not there, or cannot be reached, is a result with `error`, not an HTTP error.
     *
     * Needs the scope `memory:read`. */
    load: Call<SpecialistsLoadParams, SpecialistsLoadResult>;
    /** Say that a specialist is not used any more.
     *
     * Bookkeeping: instructions that are in a conversation stay there. Doing it again changes nothing.
     *
     * Needs the scope `memory:read`. */
    unload: Call<SpecialistsUnloadParams, SpecialistsUnloadResult>;
    /** List a specialist's versions, newest first.
     *
     * Of long ones a page has fewer than `limit`: `offset` goes on as long as there are more of `total`.
     *
     * Needs the scope `memory:read`. */
    versions: PagedCall<SpecialistsVersionsParams, SpecialistsVersionsResult, SpecialistsVersionsResult["versions"][number]>;
  };
  teams: {
    /** Make a team.
     *
     * Needs the scope `admin`. */
    create: Call<TeamsCreateParams, TeamsCreateResult>;
    /** List the teams, by name.
     *
     * Needs the scope `admin`. */
    list: PagedCall<TeamsListParams, TeamsListResult, TeamsListResult["teams"][number]>;
  };
  templates: {
    /** Author a process template, or a new version of one.
     *
     * A slug that is there gets the next version; earlier ones stay as they are. `goal_template` is a description: nothing in it is substituted.
     *
     * Needs the scope `memory:write`. */
    author: Call<TemplatesAuthorParams, TemplatesAuthorResult>;
    /** List the latest version of every process template, by slug.
     *
     * Needs the scope `memory:read`. */
    list: Call<TemplatesListParams, TemplatesListResult>;
    /** Read a process template.
     *
     * The latest version, or the one named. Its `id` is what a run is created from.
     *
     * Needs the scope `memory:read`. */
    get: Call<TemplatesGetParams, TemplatesGetResult>;
  };
  tenants: {
    /** Make a tenant with its first admin and first agent.
     *
     * The password and the key are shown only here. */
    create: Call<TenantsCreateParams, TenantsCreateResult>;
    /** List the tenants. */
    list: PagedCall<TenantsListParams, TenantsListResult, TenantsListResult["tenants"][number]>;
    /** Suspend or activate a tenant, or change its storage quota.
     *
     * The tokens of a suspended tenant are refused within 5 seconds; nothing of it is lost. A tenant over its quota reads, deletes and acknowledges; what would store more is `422 business_rule_violation`, rule `storage_quota`. */
    update: Call<TenantsUpdateParams, TenantsUpdateResult>;
    /** Erase a tenant and everything it has.
     *
     * For good, from the files of the service too. Answers a receipt, signed as a JWT with the service's token key (see /.well-known/jwks.json). Erasing again finishes an erasure that was interrupted. */
    erase: Call<TenantsEraseParams, TenantsEraseResult>;
    /** What holds for the organisation.
     *
     * The installation's settings, the same for every tenant but for `storage`. What is left of a rate tell `X-RateLimit-*`. */
    limits: Call<TenantsLimitsParams, TenantsLimitsResult>;
  };
  users: {
    /** Invite a person.
     *
     * Without a password one is made and answered once.
     *
     * Needs the scope `admin`. */
    create: Call<UsersCreateParams, UsersCreateResult>;
    /** List the people, oldest first.
     *
     * Needs the scope `admin`. */
    list: PagedCall<UsersListParams, UsersListResult, UsersListResult["users"][number]>;
    /** Change a person's name or role, disable, or give a new password.
     *
     * Disabling and a new password make the person's tokens invalid within 5 seconds. Nobody can disable or demote themselves, so an organisation keeps an admin.
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
  /** CloudEvents mode of pushes: `structured` (default) has the whole event as the body, `binary` its data, with the attributes in `ce-…` headers. An event whose attributes don't fit into headers (over 8 KB, or enriched) is pushed in structured mode all the same. */
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
  /** CloudEvents mode of pushes: `structured` (default) has the whole event as the body, `binary` its data, with the attributes in `ce-…` headers. An event whose attributes don't fit into headers (over 8 KB, or enriched) is pushed in structured mode all the same. */
  push_format: "structured" | "binary";
  team_id: string | null;
  owner_user_id: string | null;
  visibility_timeout_seconds: number | null;
  retry_budget: number | null;
  /** The endpoint answered 410 Gone; naming an endpoint starts pushing again. */
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
  /** CloudEvents mode of pushes: `structured` (default) has the whole event as the body, `binary` its data, with the attributes in `ce-…` headers. An event whose attributes don't fit into headers (over 8 KB, or enriched) is pushed in structured mode all the same. */
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
  /** What `at` must be before. */
  until?: string;
  limit?: number;
  /** `next_cursor` of the page before. */
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
  /** A JWT (ES256), good for one hour. */
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
  /** A JWT (ES256), good for one hour. */
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
  /** A JWT (ES256), good for one hour. */
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
  /** The earliest `created_at` of what is gathered. */
  since?: string;
  /** What `created_at` must be before. */
  until?: string;
  project_id?: string | null;
  /** Which memories; `ascending`: all, and of those that fit as well the agent's, then the team's. */
  memory_scope?: "ascending" | "agent" | "team" | "institutional";
  /** How many of each kind at the most; 0: none. */
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
  /** The queue to take from; it must be there. For `amqp091`. */
  queue?: string;
  /** The source to take from. For `amqp10`. */
  address?: string;
  /** What the events come from: the second part of their type, and the end of the webhook's address. */
  source: string;
  /** As a webhook's; `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
  mapping: ConnectorMapping;
  /** How many messages each node may hold that are not acknowledged yet. */
  prefetch?: number;
  /** Whether nothing is to be taken. */
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
  /** As a webhook's; `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
  mapping?: ConnectorMapping;
  /** How many messages each node may hold that are not acknowledged yet. */
  prefetch?: number;
  /** Whether nothing is to be taken. */
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
  /** Seconds to wait for a first delivery when there is none: 0..30 */
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
  /** How many were taken back. */
  nacked: number;
  /** How many of them had spent their budget. */
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
  /** Unacknowledged deliveries at most, over all of the agent's streams. */
  max_in_flight?: number;
}

export type DeliveriesStreamResult = string;

export interface DeliveriesDeadLettersParams {
  limit?: number;
  /** `next_cursor` of the page before. */
  cursor?: string;
}

export interface DeliveriesDeadLettersResult {
  items: Array<DeadLetter>;
  /** How many this page has. */
  count: number;
  next_cursor: string | null;
}

export interface DeliveriesReplayParams {
  /** Id of a delivery, not of its event. */
  id: string;
  /** Only tell what would happen. */
  dry_run?: boolean;
}

export interface DeliveriesReplayResult {
  /** Id of a delivery, not of its event. */
  id: string;
  status: "accepted" | "dry_run";
  /** On a dry run: the agents that would be given the event. */
  receivers?: Array<string>;
}

export interface DeliveriesReplayManyParams {
  ids?: Array<string>;
  reason?: string;
  /** Only tell what would happen. */
  dry_run?: boolean;
}

export interface DeliveriesReplayManyResult {
  status: "accepted" | "dry_run";
  /** Dead letters chosen. */
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
  /** Agents a page. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface DeliveriesStatsResult {
  /** All that is neither acknowledged nor dead. */
  pending: number;
  /** Of these: handed out, not yet settled. */
  in_flight: number;
  /** Of these: handed back, to be given out later. */
  waiting: number;
  dead: number;
  oldest_age_seconds: number | null;
  agents?: Array<{
    agent_id: string;
    /** All that is neither acknowledged nor dead. */
    pending: number;
    /** Of these: handed out, not yet settled. */
    in_flight: number;
    /** Of these: handed back, to be given out later. */
    waiting: number;
    dead: number;
    oldest_age_seconds: number | null;
  }>;
  /** Agents of the tenant. */
  total?: number;
}

export interface DevicesIssueParams {
  agent_id: string;
  /** What the device's key will be good for: at most the scopes of who issues the code. Default: all of them but `admin`. */
  scopes?: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
}

export interface DevicesIssueResult {
  /** What the person types: four characters, a hyphen, four characters. */
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
  /** What the person types: four characters, a hyphen, four characters. */
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
  /** A JWT (ES256), good for one hour. */
  access_token: string;
  expires_at: string;
  server_now: string;
}

export interface DevicesLookUpParams {
  /** What the person types: four characters, a hyphen, four characters. */
  code: string;
}

export interface DevicesLookUpResult {
  agent_id: string;
  /** What the device's key will be good for: at most the scopes of who issues the code. Default: all of them but `admin`. */
  scopes?: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
}

export interface DocumentsUploadParams {
  /** The file in standard base64. */
  file_content: string;
  filename: string;
  mime_type: "application/pdf" | "application/vnd.openxmlformats-officedocument.wordprocessingml.document" | "application/vnd.openxmlformats-officedocument.presentationml.presentation" | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" | "text/html" | "text/markdown" | "text/plain";
  /** `confidential` and `restricted` are for the uploader and its team only. */
  sensitivity?: "public" | "internal" | "confidential" | "restricted";
  /** For whom it is; an empty or absent list is everyone. */
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
  /** How many to return at the most. */
  limit?: number;
  /** `next_cursor` of the page before. */
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
  /** How many to return at the most. */
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
  /** Of each list that is not empty the document must be for one, or for everyone. */
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
  /** Nothing clears the floor. */
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
  /** Only those that nobody wanted. */
  unmatched?: boolean;
  limit?: number;
  /** `next_cursor` of the page before. */
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
  /** How often its id came again from another source. */
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
  /** Moves the agent's cursor past what was read; never backwards. */
  mark_read?: boolean;
  /** Read from behind this place, in place of the cursor's. */
  since_seq?: number;
  min_importance?: number;
}

export interface FindingsListResult {
  findings: Array<Finding>;
  cursor: {
    /** The agent's cursor before; 0 when it has none. */
    previous_seq: number;
    /** The cursor now; without `mark_read` where reading ended. */
    current_seq: number;
    marked_read: boolean;
  };
  /** Markdown; others' text stands in fences. */
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
  /** Fields of other names are kept, and stand in the brief too. */
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
  /** Saves only over this `version_num`, 0: only if there is none of the name; otherwise 409 `conflict`. */
  if_version?: number;
}

export type HandoffsSaveResult = Handoff;

export interface HandoffsListParams {
  q?: string;
  limit?: number;
  /** How many to pass over; not with `q`. */
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
  /** What the events come from: the second part of their type, and the end of the webhook's address. */
  source: string;
  mapping: Mapping | "cloudevents";
  /** For a sender that makes the secret itself; without it one is made here. */
  signing_secret?: string;
}

export interface IngestCreateWebhookResult {
  id: string;
  name: string;
  /** What the events come from: the second part of their type, and the end of the webhook's address. */
  source: string;
  mapping: Mapping | "cloudevents";
  url: string;
  created_at: string;
  updated_at: string;
  /** What the sender signs with. Shown only once. */
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
  /** For a sender that makes the secret itself; without it one is made here. */
  signing_secret?: string;
}

export interface IngestRotateWebhookResult {
  /** What the sender signs with. Shown only once. */
  signing_secret: string;
  previous_ends_at: string;
}

export interface IngestTestWebhookParams {
  webhook_id: string;
  /** What the sender would send. */
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
  /** 9 first, when a poll has a choice. */
  priority?: number;
  /** Whether deliveries carry the receiver's best memories about the event's subject and type, as `payload.enrichment.memories`: `shallow` three with id, title and score, `deep` ten with content too. A search that is late or fails does not hold them up; then `payload.enrichment.degraded` is true, with reasons. */
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
  /** 9 first, when a poll has a choice. */
  priority?: number;
  /** Whether deliveries carry the receiver's best memories about the event's subject and type, as `payload.enrichment.memories`: `shallow` three with id, title and score, `deep` ten with content too. A search that is late or fails does not hold them up; then `payload.enrichment.degraded` is true, with reasons. */
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
  /** 9 first, when a poll has a choice. */
  priority?: number;
  /** Whether deliveries carry the receiver's best memories about the event's subject and type, as `payload.enrichment.memories`: `shallow` three with id, title and score, `deep` ten with content too. A search that is late or fails does not hold them up; then `payload.enrichment.degraded` is true, with reasons. */
  enrichment_depth?: "none" | "shallow" | "deep";
}

export interface InterestsTestResult {
  tested: number;
  matched: number;
  /** Latest first. */
  results: Array<{
    event_id: string;
    type: string;
    source: string;
    subject: string | null;
    accepted_at: string;
    matches: boolean;
    /** `type`: the glob does not fit. `filter`: it is false. `filter_error`: it failed. */
    reason: "match" | "type" | "filter" | "filter_error";
    /** Why the filter failed. */
    error?: string;
  }>;
}

export interface KeysCreateParams {
  agent_id: string;
  /** What the key is good for; `admin` implies all others inside its tenant. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  expires_at?: string | null;
}

export interface KeysCreateResult {
  id: string;
  /** How the key begins. */
  prefix: string;
  /** What the key is good for; `admin` implies all others inside its tenant. */
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
    /** How the key begins. */
    prefix: string;
    /** What the key is good for; `admin` implies all others inside its tenant. */
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
  /** All that this agent owns. */
  agent_id?: string;
  ids?: Array<string>;
  /** All whose `metadata.subject` it is, or is among, or whose source event's or document's. A number is meant by its text. */
  subject?: string;
  dry_run?: boolean;
}

export interface MemoriesEraseResult {
  dry_run: boolean;
  erased_at: string | null;
  /** Rows by what they were; of bundles and hand-offs those that named an erased memory. */
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
  /** Part of the title or the content, in any case. Looked for, and counted, in the latest 100,000 that the institution, each team and each owner has. */
  search?: string;
  /** Empty: only those of no project. */
  project_id?: string;
  /** Any of them; repeated or comma-separated. */
  tags?: Array<string>;
  source_type?: string;
  /** Only those nobody has cited. */
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
  /** Who may read it: its owner, the team too, all of the tenant. It only ever widens. */
  scope: "agent" | "team" | "institutional";
  team_id?: string | null;
  project_id?: string | null;
  tags?: Array<string> | null;
  /** How sure it is; independent of its importance. */
  confidence?: number;
  /** How much it matters; independent of its confidence. */
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
    /** What `POST /memories` would have answered. */
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
  /** How sure it is; independent of its importance. */
  confidence?: number;
  /** How much it matters; independent of its confidence. */
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
  /** Who may read it: its owner, the team too, all of the tenant. It only ever widens. */
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
  /** What was merged into it, and into that, nearest first. */
  merge_lineage: Array<{
    loser_memory_id: string;
    winner_memory_id: string;
    /** How the merge came up. */
    origin: string;
  }>;
  /** Another has its place: it was replaced, or merged into that. */
  superseded: boolean;
  supersedes_target: string | null;
}

export interface MemoriesSearchParams {
  /** With `explain`: the plan says at which stage this memory fell out, and why. */
  expect?: string;
  query: string;
  /** Only memories of this scope. Default: all that the caller may read. */
  scope?: "agent" | "team" | "institutional";
  /** Any of them. */
  memory_types?: Array<"episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning">;
  limit?: number;
  /** What scores less is left out. */
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
    /** How likely it is what was asked for. */
    score: number;
    /** What each leg says of it. */
    sources: {
      /** Likeness in meaning. */
      vector?: number;
      /** Likeness in words. */
      bm25?: number;
      [name: string]: unknown;
    };
    superseded: boolean;
  }>;
  /** Memories that were weighed against each other. */
  total_candidates: number;
  /** Legs that had a part in the results. */
  sources_contributed: Array<string>;
  /** For `cite`: which search led to the memory. */
  originating_query_id: string;
  /** Nothing fits well enough. */
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
    /** From what the caller may see to what is given, stage by stage. */
    funnel: Array<{
      stage: string;
      in: number;
      out: number;
    }>;
    /** The best candidates, those below the floor or the limit too. */
    results: Array<{
      memory_id: string;
      vector: number | null;
      bm25: number | null;
      /** Of its content alone. */
      fused: number;
      confidence: number;
      recency: number;
      /** The score. */
      final: number;
    }>;
    /** What became of the memory that `expect` names. */
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
  /** Its memories in force. */
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
  /** For all but org admins: among the latest 10,000 of the tenant. */
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
  /** Who may read it: its owner, a team too, all of the tenant. It is set when it is first saved. */
  scope?: "agent" | "team" | "institutional";
  team_id?: string | null;
  project_id?: string | null;
  source_type?: string | null;
  /** Its id or its slug. */
  output_id?: string;
  /** What the new version changes. */
  change_note?: string;
  process_run_id?: string | null;
  /** What it was made from. Ids or slugs; those that name no output the caller may read are left out. */
  derived_from_ids?: Array<string>;
  /** What it refers to. Ids or slugs; those that name no output the caller may read are left out. */
  references_ids?: Array<string>;
  /** What it takes the place of. Ids or slugs; those that name no output the caller may read are left out. */
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
  /** Who may read it: its owner, a team too, all of the tenant. It is set when it is first saved. */
  scope?: "agent" | "team" | "institutional";
  /** Empty: only unfiled ones. */
  project_id?: string;
  process_run_id?: string;
  /** Any of them; repeated or comma-separated. */
  tags?: Array<string>;
  /** `created_at` or `title`; anything else is `created_at`. */
  sort?: string;
  /** `asc` or `desc`; by default latest first, titles from A. */
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
  /** Its number, or its id. */
  version_num: string;
}

export type OutputsGetVersionResult = OutputVersion;

export interface OutputsSearchParams {
  query: string;
  /** Who may read it: its owner, a team too, all of the tenant. It is set when it is first saved. */
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
    /** The part of the text that fits best. */
    passage: string;
    superseded: boolean;
  }>;
  /** Outputs that fit, beyond the limit too. */
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
  /** Letters, digits, `.`, `_` and `-`; no UUID. Sent as `project_id` elsewhere; it never changes. */
  key: string;
  name?: string;
  status?: "active" | "completed" | "archived";
  target_date?: string | null;
}

export type ProjectsCreateResult = Project;

export interface ProjectsUpdateParams {
  /** Letters, digits, `.`, `_` and `-`; no UUID. Sent as `project_id` elsewhere; it never changes. */
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
  /** How many are returned. */
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
  /** Also what was replaced or merged into another. */
  include_superseded?: boolean;
}

export interface RelationshipsGraphResult {
  /** The nearest first; the memory itself leads. */
  nodes: Array<Memory>;
  edges: Array<Relationship>;
  /** There is more than 200 memories or 1,000 edges. */
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
  /** Empty: only unfiled ones. */
  project_id?: string;
  /** How many to skip. */
  offset?: number;
  /** All, where it is not given. */
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
  /** How the bytes were removed from the store's files. `rewritten`: the files were written anew without them. `overwritten`: they were overwritten in place; of rows that SQLite had moved before, about one in a thousand, fragments may remain in unused parts of pages. `deleted`: by MongoDB, whose data files, journal and oplog may hold them until their space is used again. */
  storage: "rewritten" | "overwritten" | "deleted";
  backups_until: string | null;
  receipt: string;
}

export type TenantsLimitsParams = Record<never, never>;

export type TenantsLimitsResult = Limits;

export interface UsersCreateParams {
  email: string;
  display_name?: string;
  /** `admin` has every scope and may do what only people may; `member` every scope but `admin`. */
  role?: "admin" | "member";
  password?: string;
}

export interface UsersCreateResult {
  id: string;
  tenant_id: string;
  email: string;
  display_name: string;
  /** `admin` has every scope and may do what only people may; `member` every scope but `admin`. */
  role: "admin" | "member";
  status: "active" | "disabled";
  created_at: string;
  updated_at: string;
  /** The one that was made, shown only here. */
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
  /** `admin` has every scope and may do what only people may; `member` every scope but `admin`. */
  role?: "admin" | "member";
  status?: "active" | "disabled";
  /** `true` makes a new password, which is answered once. */
  reset_password?: boolean;
}

export interface UsersUpdateResult {
  id: string;
  tenant_id: string;
  email: string;
  display_name: string;
  /** `admin` has every scope and may do what only people may; `member` every scope but `admin`. */
  role: "admin" | "member";
  status: "active" | "disabled";
  created_at: string;
  updated_at: string;
  /** The one that was made, shown only here. */
  password?: string;
}

export interface Activity {
  kind: "cite";
  memory_id: string;
  /** Of a memory of its own: does not rank. */
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
  /** CloudEvents mode of pushes: `structured` (default) has the whole event as the body, `binary` its data, with the attributes in `ce-…` headers. An event whose attributes don't fit into headers (over 8 KB, or enriched) is pushed in structured mode all the same. */
  push_format: "structured" | "binary";
  team_id: string | null;
  owner_user_id: string | null;
  visibility_timeout_seconds: number | null;
  retry_budget: number | null;
  /** The endpoint answered 410 Gone; naming an endpoint starts pushing again. */
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
  /** `begun`: it is under way, or was cut off and may have been carried out. */
  outcome: "begun" | "done" | "refused" | "failed";
  error: string | null;
  request_id: string | null;
  ip: string | null;
  /** Ids, counts, decisions and names of fields; never content. */
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
  /** For the header X-CSRF-Token of what changes something. */
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
  /** Markdown; what others wrote stands in fences. */
  rendered_brief: string;
  /** A part of what was looked for could not be had. */
  degraded: boolean;
  degraded_reasons: Array<string>;
  /** Which weights put the items in order. */
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
  /** Where it begins in the document's text. */
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
    /** The document was replaced or deleted since. */
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
  /** Binary data, in place of `data`. */
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
  /** What the events come from: the second part of their type, and the end of the webhook's address. */
  source: string;
  /** As a webhook's; `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
  mapping: ConnectorMapping;
  /** How many messages each node may hold that are not acknowledged yet. */
  prefetch: number;
  /** Whether nothing is to be taken. */
  paused: boolean;
  state: "connecting" | "consuming" | "paused" | "retrying" | "failed";
  last_error: string | null;
  last_error_at: string | null;
  counts: {
    /** Messages taken, repetitions included. */
    received: number;
    /** Of them, events, duplicates included. */
    accepted: number;
    /** Of them, dead letters. */
    mapping_errors: number;
  };
  lag: number | null;
  created_at: string;
  updated_at: string;
}

/** As a webhook's; `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
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
  /** The whole CloudEvent, or what came where it could not be mapped. */
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
  /** Hand-outs so far: 1 on the first. */
  attempt_count: number;
  created_at: string;
  lease_expires_at: string;
  /** Why this agent got it: its interests and the channel feeds that matched. */
  matched: Matched;
}

export type DeviceStatus = {
  state: "waiting";
  /** What the person types: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** What the device's key will be good for: at most the scopes of who issues the code. Default: all of them but `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
} | {
  state: "verifying";
  /** What the person types: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  client_info: ClientInfo;
  claimed_at: string;
  /** What the device's key will be good for: at most the scopes of who issues the code. Default: all of them but `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  /** Shown to people alone: what they confirm with. */
  claim_id?: string;
} | {
  state: "connected";
  /** What the person types: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  client_info: ClientInfo;
  claimed_at: string;
  /** What the device's key will be good for: at most the scopes of who issues the code. Default: all of them but `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  session_id: string;
  confirmed_at: string;
} | {
  state: "denied";
  /** What the person types: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** What the device's key will be good for: at most the scopes of who issues the code. Default: all of them but `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
} | {
  state: "expired";
  /** What the person types: four characters, a hyphen, four characters. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** What the device's key will be good for: at most the scopes of who issues the code. Default: all of them but `admin`. */
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
  /** Which of the documents of this name it is. */
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

/** Rows by what they were; of bundles and hand-offs those that named an erased memory. */
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
  /** How often its id came again from another source. */
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
  /** Its place in the tenant's sequence. */
  seq: number;
  memory_id: string;
  title: string;
  /** The beginning of its content. */
  summary: string;
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  importance: number;
  confidence: number;
  /** Promoted to the institution, or written for it directly, which nothing gates. */
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
  /** Attested one by one: the last completes the step. */
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
  /** Attested one by one: the last completes the step. */
  completion_criteria?: Array<{
    key: string;
    description: string;
  }>;
  expected_artifact_kinds?: Array<string>;
  reference_pointer?: GivenPointer | null;
  reference_note?: string | null;
  due_in_seconds?: number | null;
  /** `handoff_accepted` without criteria: only a successor who accepts a hand-off offer completes the step. */
  completion_mode: "attestation" | "handoff_accepted";
}

export interface Handoff {
  id: string;
  agent_id: string;
  name: string;
  summary: string;
  /** Fields of other names are kept, and stand in the brief too. */
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
    /** The memory's when it was saved; empty if it was not there to be seen. */
    title: string;
  }>;
  artifacts: Array<string>;
  origin_client: string | null;
  scope: "agent";
  /** Raised by every saving. */
  version_num: number;
  pinned_at: string | null;
  last_resumed_at: string | null;
  /** When it is removed, unless it is pinned. */
  expires_at: string;
  created_at: string;
  /** When it was saved last. */
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
  /** 9 first, when a poll has a choice. */
  priority: number;
  /** Whether deliveries carry the receiver's best memories about the event's subject and type, as `payload.enrichment.memories`: `shallow` three with id, title and score, `deep` ten with content too. A search that is late or fails does not hold them up; then `payload.enrichment.degraded` is true, with reasons. */
  enrichment_depth: "none" | "shallow" | "deep";
  filter_suspended_until: string | null;
  created_at: string;
  updated_at: string;
}

export interface Limits {
  /** Of each agent and each person, of all of them together, and of signed webhooks. */
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
  /** Where an agent sets none of its own. */
  delivery: {
    visibility_timeout_seconds: number;
    retry_budget: number;
  };
  /** How long what is done with can still be looked at, or undone. */
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
  /** Who may read it: its owner, the team too, all of the tenant. It only ever widens. */
  scope: "agent" | "team" | "institutional";
  team_id: string | null;
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  status: "active" | "forgotten" | "superseded" | "merged";
  title: string;
  content: string;
  /** How sure it is; independent of its importance. */
  confidence: number;
  /** How much it matters; independent of its confidence. */
  importance: number;
  /** Whatever the caller keeps with it: at most 64 KB as JSON. */
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
  /** Pairs that are proposed to be merged. */
  duplicate_count: number;
  /** Memories in force without any relationship. */
  orphan_count: number;
  /** Whose freshness date is more than 90 days ago. */
  stale_count: number;
  /** Of the tenant: found by their text only, their embedding is yet to come. Null while search does not answer. */
  embed_gap_count: number | null;
  /** Of the type `reflection`. */
  reflection_count: number;
  /** Memories by how long ago they were last read. */
  decay_distribution: Record<string, number>;
}

export interface MemoryWithUsage {
  id: string;
  tenant_id: string;
  agent_id: string | null;
  user_id: string | null;
  /** Who may read it: its owner, the team too, all of the tenant. It only ever widens. */
  scope: "agent" | "team" | "institutional";
  team_id: string | null;
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  status: "active" | "forgotten" | "superseded" | "merged";
  title: string;
  content: string;
  /** How sure it is; independent of its importance. */
  confidence: number;
  /** How much it matters; independent of its confidence. */
  importance: number;
  /** Whatever the caller keeps with it: at most 64 KB as JSON. */
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
  /** False for an agent that no person owns: the guidance is general then, without steps. */
  personalized: boolean;
  completed_steps: number;
  total_steps: number;
  steps: Array<{
    key: "connect_agent" | "declare_interest" | "publish_event" | "acknowledge_delivery" | "create_memory" | "search_memory" | "save_handoff" | "complete_run";
    status: "todo" | "done";
    /** From what the organisation really holds. */
    source: "derived";
  }>;
  next_action: {
    key: "connect_agent" | "declare_interest" | "publish_event" | "acknowledge_delivery" | "create_memory" | "search_memory" | "save_handoff" | "complete_run";
    ccode: "Connect" | "Capture" | "Consult" | "Continue" | "Complete";
    title: string;
    /** What to ask an agent for. */
    suggested_prompt: string;
  } | null;
}

export interface Output {
  id: string;
  tenant_id: string;
  agent_id: string | null;
  user_id: string | null;
  project_id: string | null;
  /** Who may read it: its owner, a team too, all of the tenant. It is set when it is first saved. */
  scope: "agent" | "team" | "institutional";
  team_id: string | null;
  title: string;
  slug: string;
  source_type: string | null;
  /** Where the text is kept. */
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
  /** What can be worked on: ready or in progress. */
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
  /** Letters, digits, `.`, `_` and `-`; no UUID. Sent as `project_id` elsewhere; it never changes. */
  key: string;
  name: string;
  status: "active" | "completed" | "archived";
  target_date: string | null;
  /** Made for rows that named it before it was there. */
  created_from_backfill: boolean;
  created_at: string;
  updated_at: string;
}

export interface PublishResult {
  /** The service's id of the event. */
  event_id: string;
  /** `duplicate`: the id is known; the original's event_id. */
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

/** What is wrong with one event of a batch. */
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
  /** Its place among the steps, from 1. */
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
  /** `handoff_accepted` without criteria: only a successor who accepts a hand-off offer completes the step. */
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
    /** Its place among the steps, from 1. */
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
    /** `handoff_accepted` without criteria: only a successor who accepts a hand-off offer completes the step. */
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
    /** Oldest first; the last one still runs. */
    published: Array<number>;
    /** Handed out, again and again too. */
    delivered: Array<number>;
    /** Oldest first; the last one still runs. */
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
  /** The last events, latest first. */
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
  /** The step's specialist as it was loaded, or why it was not; null where it has none. */
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
  /** Its place among the steps, from 1. */
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
  /** `handoff_accepted` without criteria: only a successor who accepts a hand-off offer completes the step. */
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
  /** Citations of the last 30 days, the owner's own too. */
  cite_count_30d: number;
  last_cited_at: string | null;
  /** The lowest confidence of the memory and of all that it was made of: what it replaced, what was merged into it, what it was derived from. */
  trust: number;
}

export interface User {
  id: string;
  tenant_id: string;
  email: string;
  display_name: string;
  /** `admin` has every scope and may do what only people may; `member` every scope but `admin`. */
  role: "admin" | "member";
  status: "active" | "disabled";
  created_at: string;
  updated_at: string;
}

export interface Webhook {
  id: string;
  name: string;
  /** What the events come from: the second part of their type, and the end of the webhook's address. */
  source: string;
  mapping: Mapping | "cloudevents";
  url: string;
  created_at: string;
  updated_at: string;
}

/** Of a batch: one for each event, in order. */
export type WebhookBatchResult = Array<WebhookResult>;

export interface WebhookResult {
  event_id: string | null;
  status: "accepted" | "duplicate" | "dead_lettered";
}
