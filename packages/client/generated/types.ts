// Written by `npm run openapi` from the contracts: change those.
import type { Call, PagedCall, StreamCall } from "../operation.ts";

/** Every operation of the service: `api.<domain>.<operation>(params)`. */
export interface Api {
  a2a: {
    /** Read an agent's A2A card.
     *
     * The agent card of A2A 1.0, public: name, description, address and how to authenticate. Agents without `a2a`, inactive ones and those that do not exist answer alike, with `not_found`. */
    card: Call<A2aCardParams, A2aCardResult>;
  };
  a2aTasks: {
    /** Read an A2A task given to the agent.
     *
     * Use this to work on a task of another agent. Returns the messages of the caller. The event `service.a2a.message` announces each, with the `task_id`.
     *
     * Needs the scope `receive`. */
    get: Call<A2aTasksGetParams, A2aTasksGetResult>;
    /** Report the state of an A2A task.
     *
     * Use this to tell the caller how the task goes, with an optional message and artifacts. Returns the task. `completed`, `failed` and `rejected` are final: later reports are refused with `conflict`, as are reports of a task that the caller canceled.
     *
     * Needs the scope `receive`. */
    update: Call<A2aTasksUpdateParams, A2aTasksUpdateResult>;
  };
  agents: {
    /** Create an agent.
     *
     * The owner is the signed-in person, unless `owner_user_id` names another. The signing secret is returned only here.
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
     * Use this to see an agent's settings and status. Agents can read themselves and people the agents they own; others need the scope `admin`. Returns the agent without its keys. */
    get: Call<AgentsGetParams, AgentsGetResult>;
    /** Update an agent.
     *
     * Omitted fields do not change. An endpoint that resolves to a loopback, link-local or private address is refused.
     *
     * Needs the scope `admin`. */
    update: Call<AgentsUpdateParams, AgentsUpdateResult>;
    /** Deactivate or activate an agent.
     *
     * The tokens of an inactive agent are refused within 5 seconds and stay refused after it is activated again: exchange its keys for new ones. Its devices and clients are disconnected permanently. Inactive agents match no events; their pending deliveries are kept.
     *
     * Needs the scope `admin`. */
    setStatus: Call<AgentsSetStatusParams, AgentsSetStatusResult>;
    /** Delete an agent permanently.
     *
     * Its tokens, keys and devices end first. Then its private memories, state, handoffs, bundles, deliveries, interests, channels, schedules and A2A tasks (given to it or by it) with their webhooks are erased, and the agent itself. Memories that it shared with its team or the organisation stay, unless `shared` is `erase`. Outputs, documents, events and runs stay. A deletion interrupted by a crash is finished. An agent cannot delete itself.
     *
     * Needs the scope `admin`. */
    delete: Call<AgentsDeleteParams, AgentsDeleteResult>;
    /** Rotate an agent's signing secret.
     *
     * Returns the new secret, only here. Each previous secret signs pushes too for 24 hours from when it was replaced; at most 6 secrets are valid at a time.
     *
     * Needs the scope `admin`. */
    rotateSigningSecret: Call<AgentsRotateSigningSecretParams, AgentsRotateSigningSecretResult>;
  };
  audit: {
    /** List audited actions, newest first.
     *
     * The log contains actions reserved for admins or people, deletions, irreversible actions, changes of runs, templates and outputs, and sign-ins and sign-outs. A failed sign-in (`auth.login`, `refused`) is recorded for each account with that e-mail address, once a minute per network; it omits the address if several tenants exist and the request named none. Entries are kept for `AUDIT_DAYS`.
     *
     * Needs the scope `admin`. */
    list: PagedCall<AuditListParams, AuditListResult, AuditListResult["entries"][number]>;
    /** Export audited actions, newest first.
     *
     * Returns all entries that match the filter of `GET /audit`, of any number, with the names of agents and people. `ndjson`: one `AuditEntry` per line. `csv`: text that a spreadsheet would run as a formula begins with an apostrophe. The export itself is recorded.
     *
     * Needs the scope `admin`. */
    export: Call<AuditExportParams, AuditExportResult>;
  };
  auth: {
    /** Exchange an API key for an access token.
     *
     * The API key is the credential. The token expires after an hour, or with its key. Failures are limited per address. With `scope` or `resource` the token has less than the key.
     *
     * As a form, this is the client credentials grant of OAuth 2.0: the key is `client_secret`, or the password of HTTP Basic. Errors then have OAuth's form, with `error` and `error_description`. */
    token: Call<AuthTokenParams, AuthTokenResult>;
    /** Sign in as a person.
     *
     * Pass `tenant_slug` if the e-mail address and password fit accounts in several tenants, and `code` if the account has a second factor (`totp_required`). Failures are limited per address. */
    login: Call<AuthLoginParams, AuthLoginResult>;
    /** Read the current caller.
     *
     * Use this to check a credential. Returns the calling agent or person, the tenant, the scopes and the token's expiry. */
    me: Call<AuthMeParams, AuthMeResult>;
    /** Sign out, or revoke an agent's token.
     *
     * For people, all tokens of this sign-in are refused within 5 seconds, renewed ones included. For agents, only this token is revoked and its key stays valid; an API key sent as the bearer token is revoked itself. */
    logout: Call<AuthLogoutParams, AuthLogoutResult>;
    /** Change the caller's password.
     *
     * Revokes all tokens of the person and returns a new one. */
    password: Call<AuthPasswordParams, AuthPasswordResult>;
    /** Sign in a browser.
     *
     * Sets the token as an httpOnly cookie for this origin only. Requests with the cookie that change state need `X-CSRF-Token`. Rate limits are those of `POST /auth/login`. */
    startSession: Call<AuthStartSessionParams, AuthStartSessionResult>;
    /** Read the signed-in person and the session's CSRF token. */
    session: Call<AuthSessionParams, AuthSessionResult>;
    /** Renew a session.
     *
     * Extends the session by an hour, up to 12 hours after sign-in. */
    renewSession: Call<AuthRenewSessionParams, AuthRenewSessionResult>;
    /** Sign a browser out.
     *
     * Removes the cookie. All tokens of the session are refused within 5 seconds. If the identity provider began the session, `sign_out_url` is where to send the browser to sign out there too. */
    endSession: Call<AuthEndSessionParams, AuthEndSessionResult>;
    /** Read how people can sign in. */
    methods: Call<AuthMethodsParams, AuthMethodsResult>;
    /** Begin a sign-in by the identity provider.
     *
     * Returns where to send the browser, and sets a cookie that its answer must fit. The provider sends the browser back to `/sign-in/callback` of the console. */
    beginOidc: Call<AuthBeginOidcParams, AuthBeginOidcResult>;
    /** Sign in a browser that the identity provider has sent back.
     *
     * The cookie of `POST /auth/oidc` is required. The session is that of `POST /auth/session`. The role follows the provider's claims at each sign-in. `forbidden` says in `details.reason` who cannot sign in: `no_role`, `disabled`, `no_email`, `email_unverified` or `email_taken`. */
    finishOidc: Call<AuthFinishOidcParams, AuthFinishOidcResult>;
    /** Read how the signed-in person signs in. */
    signInWays: Call<AuthSignInWaysParams, AuthSignInWaysResult>;
    /** Begin to set up a second factor.
     *
     * Returns a secret for an authenticator app (TOTP, RFC 6238), only here. It is in force once `POST /auth/totp/confirm` has got a code. */
    beginTotp: Call<AuthBeginTotpParams, AuthBeginTotpResult>;
    /** Put the second factor in force.
     *
     * Returns ten recovery codes, only here. Each replaces a code once. */
    confirmTotp: Call<AuthConfirmTotpParams, AuthConfirmTotpResult>;
    /** Remove the second factor.
     *
     * Needs the password or a recovery code. */
    removeTotp: Call<AuthRemoveTotpParams, AuthRemoveTotpResult>;
    /** Read the public keys of access tokens and receipts (RFC 7517). */
    jwks: Call<AuthJwksParams, AuthJwksResult>;
  };
  bundles: {
    /** Gather context for a task.
     *
     * Use this before starting a task. Returns a snapshot of the memories, outputs and own handoffs that match the query (without a query, the latest), with a Markdown brief. It may be empty; if a source is unavailable, it is `degraded`. Bundles are kept for `BUNDLE_RETENTION_DAYS`, and as long as a handoff or an attempt on a step refers to them.
     *
     * Needs the scope `memory:read`. */
    assemble: Call<BundlesAssembleParams, BundlesAssembleResult>;
    /** Read a bundle as it was gathered.
     *
     * Use this to see the context of earlier work. Returns the stored snapshot, even if its sources have changed since.
     *
     * Needs the scope `memory:read`. */
    get: Call<BundlesGetParams, BundlesGetResult>;
    /** Read a bundle's brief.
     *
     * Use this to give a bundle to a model. Returns the stored Markdown; its bytes never change.
     *
     * Needs the scope `memory:read`. */
    brief: Call<BundlesBriefParams, BundlesBriefResult>;
    /** List an agent's bundles for people, newest first.
     *
     * For admins and the agent's owner; recorded in the audit log. */
    listOfAgent: PagedCall<BundlesListOfAgentParams, BundlesListOfAgentResult, BundlesListOfAgentResult["bundles"][number]>;
    /** Read an agent's bundle as a person.
     *
     * For admins and the agent's owner; recorded in the audit log. Items that the caller cannot read have an empty title, and the brief, which quotes them, is then null. */
    getOfAgent: Call<BundlesGetOfAgentParams, BundlesGetOfAgentResult>;
  };
  channels: {
    /** Create a channel.
     *
     * Use this to deliver the same events to several agents: its members get what matches its feeds. Returns an empty channel: add feeds and members next.
     *
     * Needs the scope `channel:write`. */
    create: Call<ChannelsCreateParams, ChannelsCreateResult>;
    /** List channels by name.
     *
     * Use this to find a channel to join. Returns one page and the `total`.
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
     * Use this to let an agent receive the events that match the channel's feeds. Returns the membership; an existing one does not change.
     *
     * Needs the scope `channel:write`. */
    addMember: Call<ChannelsAddMemberParams, ChannelsAddMemberResult>;
    /** List the members of a channel, oldest first.
     *
     * Use this to see who receives a channel's events. Returns the ids of the agents, and when each joined.
     *
     * Needs the scope `channel:read`. */
    listMembers: PagedCall<ChannelsListMembersParams, ChannelsListMembersResult, ChannelsListMembersResult["members"][number]>;
    /** Leave a channel, or remove an agent from it.
     *
     * Needs the scope `channel:write`. */
    removeMember: Call<ChannelsRemoveMemberParams, ChannelsRemoveMemberResult>;
    /** Subscribe a channel to events.
     *
     * Use this to choose the events of a channel: each that matches is delivered to every member. Returns the feed. A filter that does not compile is refused with `validation_error` and `details.position`.
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
     * A message is acknowledged once its event is durable. Messages in structured mode (`application/cloudevents+json`) are taken with their id as `CONNECTOR:SOURCE ID`; others must be JSON and are mapped. A message that cannot be mapped becomes a dead letter with the reason `mapping error: …`. A tenant has at most 50 connectors.
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
     * Messages already received are finished first; the rest stay at the broker. `mapping` replaces the whole mapping; messages that the previous one could not map can be replayed from the dead letters.
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
     * Returns events that match the agent's interests and channels: highest priority first, then oldest (best effort), at most 4 MB. Acknowledge each before `lease_expires_at`, or it is redelivered.
     *
     * Needs the scope `receive`. */
    poll: Call<DeliveriesPollParams, DeliveriesPollResult>;
    /** Acknowledge deliveries.
     *
     * Call this after processing deliveries, so that they are not redelivered. Returns how many were acknowledged; unknown, already acknowledged and other agents' ids are not counted.
     *
     * Needs the scope `receive`. */
    ack: Call<DeliveriesAckParams, DeliveriesAckResult>;
    /** Reject deliveries, to be retried later.
     *
     * Use this if processing failed and may succeed later. The attempt counts: when the retry budget is spent, the delivery is dead-lettered with the reason. Returns how many were rejected and dead-lettered.
     *
     * Needs the scope `receive`. */
    nack: Call<DeliveriesNackParams, DeliveriesNackResult>;
    /** Extend the lease of deliveries.
     *
     * Use this if processing takes longer than the lease. The lease then ends `seconds` from now. Returns how many were extended: those that are not in flight are not counted.
     *
     * Needs the scope `receive`. */
    extend: Call<DeliveriesExtendParams, DeliveriesExtendResult>;
    /** Receive deliveries as server-sent events.
     *
     * Sends `event: delivery` with the delivery's id as `id:` and the delivery, as in a poll, as `data:`; a comment every 15 s keeps the connection open. Acknowledge with `POST /delivery/ack`. Closing the stream returns unacknowledged deliveries at once, without counting the attempt.
     *
     * Needs the scope `receive`. */
    stream: StreamCall<DeliveriesStreamParams>;
    /** Count deliveries by state.
     *
     * Counts the caller's deliveries. For admins, counts the tenant's, with one row per agent on the page; `oldest_age_seconds` then covers these agents only.
     *
     * Needs the scope `receive`. */
    stats: Call<DeliveriesStatsParams, DeliveriesStatsResult>;
    /** List an agent's deliveries, newest first.
     *
     * For the agent itself, the person who owns it, and admins. Leases nothing. */
    list: PagedCall<DeliveriesListParams, DeliveriesListResult, DeliveriesListResult["deliveries"][number]>;
    /** Discard an agent's pending deliveries.
     *
     * Discards what waits to be delivered; the agent will not receive it, also not by a replay. Deliveries in flight and dead letters are kept. At most 10,000 per request; `more` is true if others are left. For the person who owns the agent, and admins. */
    drain: Call<DeliveriesDrainParams, DeliveriesDrainResult>;
    /** List dead letters, newest first.
     *
     * Use this to see what failed and why. Returns the caller's dead letters; for admins, the whole tenant's. With `type` or `text`, a page may have fewer than `limit` and still a `next_cursor`.
     *
     * Needs the scope `receive`. */
    deadLetters: PagedCall<DeliveriesDeadLettersParams, DeliveriesDeadLettersResult, DeliveriesDeadLettersResult["items"][number]>;
    /** Group dead letters by reason.
     *
     * Counts the caller's dead letters by their exact reason, most frequent first; for admins, the whole tenant's. Counts the latest 10,000 that match; `more` is true if there are others.
     *
     * Needs the scope `receive`. */
    deadLetterGroups: Call<DeliveriesDeadLetterGroupsParams, DeliveriesDeadLetterGroupsResult>;
    /** Replay a dead letter.
     *
     * Use this after fixing the cause. The event is matched again: the dead letter's agent gets a new retry budget if it still matches, and matching agents that never received the event get it. Input that could not be mapped is mapped again. Returns `accepted`.
     *
     * Needs the scope `receive`. */
    replay: Call<DeliveriesReplayParams, DeliveriesReplayResult>;
    /** Replay many dead letters.
     *
     * Pass either `ids` or at least one other filter: `until` alone selects all. Replays at most 10,000 per request; `more` is true if others are left.
     *
     * Needs the scope `receive`. */
    replayMany: Call<DeliveriesReplayManyParams, DeliveriesReplayManyResult>;
    /** Delete many dead letters.
     *
     * Pass either `ids` or at least one other filter: `until` alone selects all. Deletes at most 10,000 per request; `more` is true if others are left. They can no longer be replayed.
     *
     * Needs the scope `receive`. */
    discardMany: Call<DeliveriesDiscardManyParams, DeliveriesDiscardManyResult>;
    /** Delete a dead letter.
     *
     * Needs the scope `receive`. */
    discard: Call<DeliveriesDiscardParams, DeliveriesDiscardResult>;
  };
  devices: {
    /** Issue a code that connects a device to an agent.
     *
     * For the agent itself, its owner, or callers with the scope `admin`. The code is valid for 10 minutes; a newer code for the same agent replaces a pending one. */
    issue: Call<DevicesIssueParams, DevicesIssueResult>;
    /** Read the status of an agent's newest device code.
     *
     * For the agent itself, its owner, or callers with the scope `admin`. Never returns an API key. */
    status: Call<DevicesStatusParams, DevicesStatusResult>;
    /** Claim a code from the device.
     *
     * The code is the credential. Unknown, used, denied and expired codes all return 404. Claims and lookups are limited to `DEVICE_CLAIMS_PER_HOUR` per address. */
    claim: Call<DevicesClaimParams, DevicesClaimResult>;
    /** Approve or reject the device that claimed a code.
     *
     * For the agent's owner and org admins. Only org admins can approve a code with the scope `admin`. */
    confirm: Call<DevicesConfirmParams, DevicesConfirmResult>;
    /** Fetch the API key of an approved claim, once.
     *
     * The claim id is the credential. Returns 409 `conflict` before approval, and 404 after denial, expiry or the first fetch. The key is returned only here. */
    complete: Call<DevicesCompleteParams, DevicesCompleteResult>;
    /** Read the agent of a device code.
     *
     * Denied, expired and unknown codes return 404. With a token the answer includes the scopes, and callers other than the agent itself, its owner and admins get 404. Claims and lookups are limited to `DEVICE_CLAIMS_PER_HOUR` per address. */
    lookUp: Call<DevicesLookUpParams, DevicesLookUpResult>;
  };
  documents: {
    /** Upload a document.
     *
     * Use this to make a file searchable. Returns its id; the document is parsed, chunked and indexed in the background: `status` of the document shows the progress. The same bytes in the same source return the existing document, and narrow its `sensitivity`, `audience` and `subject` to those of this request, never widen them; the answer shows what applies. `conflict` if neither includes the other. Other bytes under the same filename supersede it once they are stored. Without write permission, returns `accepted: false`.
     *
     * Needs the scope `memory:write`. */
    upload: Call<DocumentsUploadParams, DocumentsUploadResult>;
    /** List documents, newest first.
     *
     * Use this to browse documents; to find facts in them, search. Returns metadata and `status`, not text, of documents that the caller can read. Continue with `next_cursor`.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<DocumentsListParams, DocumentsListResult, DocumentsListResult["documents"][number]>;
    /** Read a document's metadata.
     *
     * Use this to follow an upload: returns `status`, audience and version, but not the text.
     *
     * Needs the scope `memory:read`. */
    get: Call<DocumentsGetParams, DocumentsGetResult>;
    /** List the chunks of a document in order.
     *
     * Use this to read a document's text. Returns it in order, with page numbers.
     *
     * Needs the scope `memory:read`. */
    listChunks: PagedCall<DocumentsListChunksParams, DocumentsListChunksResult, DocumentsListChunksResult["chunks"][number]>;
    /** Delete a document and its chunks.
     *
     * Use this to delete a document permanently. Only the uploader and admins can delete it. Returns `deleted`, false for an unknown document.
     *
     * Needs the scope `memory:write`. */
    delete: Call<DocumentsDeleteParams, DocumentsDeleteResult>;
    /** Download the original of a document.
     *
     * Returns the file as it was uploaded, to everyone who can read the document. Recorded in the audit log. Originals are kept until the document is deleted or erased.
     *
     * Needs the scope `memory:read`. */
    content: Call<DocumentsContentParams, DocumentsContentResult>;
    /** Process a failed document again.
     *
     * Use this after the cause of the failure is gone. Only the uploader and admins can retry it. `conflict` if it has not failed, if the same file was uploaded again, or if its original is no longer kept: then upload it again.
     *
     * Needs the scope `memory:write`. */
    retry: Call<DocumentsRetryParams, DocumentsRetryResult>;
    /** Search document chunks by words and by meaning.
     *
     * Returns the passages that best match the query, with their documents and scores. Searches only stored documents that the caller can read, not superseded ones.
     *
     * Needs the scope `memory:read`. */
    search: Call<DocumentsSearchParams, DocumentsSearchResult>;
  };
  events: {
    /** Publish an event.
     *
     * Takes CloudEvents in structured mode (`application/cloudevents+json` or `application/json`), binary mode (`ce-*` headers) or batch mode (`application/cloudevents-batch+json`: at most 100 events and 4 MB; an invalid event does not affect the others). 202 means that the event is durable. An event with the extension attribute `notbefore` waits until that time, and is then matched to the interests of that time. The types `service.*` and `memory.cited` are reserved for the service.
     *
     * Needs the scope `send`. */
    publish: Call<EventsPublishParams, EventsPublishResult>;
    /** List events, newest first.
     *
     * Use this to see what happened. Returns events that the caller published (with `send`) or received (agents with `receive`); for admins, all. A page may have fewer than `limit` events and still a `next_cursor`: a request returns at most 4 MB and scans about 200,000 events, or two seconds without a match. */
    list: PagedCall<EventsListParams, EventsListResult, EventsListResult["events"][number]>;
    /** Stream new events as server-sent events.
     *
     * Sends `event: ready` with the time as `at` from which events are new, and then `event: event` for each event that `GET /events` newly returns to the caller, as it is listed there. Nothing is received or acknowledged. After a break, continue with `since`: events of the ten seconds before it may be sent twice. Events are new when they are accepted: a delayed event is not sent again when it is due. Of more than 2,000 events at a time only the latest are sent. */
    stream: StreamCall<EventsStreamParams>;
    /** Read an event and its deliveries.
     *
     * Use this to see whether an event was delivered. Returns it with its timeline and delivery counts; for admins, also each receiver. */
    get: Call<EventsGetParams, EventsGetResult>;
    /** Retry the fan-out of a parked event.
     *
     * Use this for an event with the state `parked`, after fixing the cause in `park_reason`.
     *
     * Needs the scope `admin`. */
    retry: Call<EventsRetryParams, EventsRetryResult>;
    /** Cancel a delayed event.
     *
     * Use this for an event of the caller's, for admins of anybody's, that waits for its `notbefore`: it is never delivered, and its `id` can be used again. Any other event is a `conflict`. Returns nothing.
     *
     * Needs the scope `send`. */
    cancel: Call<EventsCancelParams, EventsCancelResult>;
  };
  exemplars: {
    /** Create an exemplar from a text.
     *
     * Use this to keep an example for runs to follow. Stores the text unchanged, at most 1 MB. Returns the exemplar; if the tenant already has this text, returns the existing exemplar (200).
     *
     * Needs the scope `memory:write`. */
    create: Call<ExemplarsCreateParams, ExemplarsCreateResult>;
    /** List exemplars, newest first.
     *
     * Use this to find an example by its name. Returns names and ids of all, or of at most `limit`; the header `X-Total-Count` has their number. Read an exemplar for its text.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<ExemplarsListParams, ExemplarsListResult, ExemplarsListResult[number]>;
    /** Read an exemplar's text.
     *
     * Returns 202 while the text is being extracted, and 200 without a text if extraction failed.
     *
     * Needs the scope `memory:read`. */
    get: Call<ExemplarsGetParams, ExemplarsGetResult>;
    /** Rename an exemplar.
     *
     * Use this to change only `display_name`. Returns the exemplar.
     *
     * Needs the scope `memory:write`. */
    rename: Call<ExemplarsRenameParams, ExemplarsRenameResult>;
    /** Delete an unreferenced exemplar.
     *
     * Use this to remove an example that nothing refers to. Refused with `conflict` while it is attached to a run or a step's reference pointer names it; `details.referrers` lists them. Returns nothing.
     *
     * Needs the scope `memory:write`. */
    delete: Call<ExemplarsDeleteParams, ExemplarsDeleteResult>;
    /** Download the original of an exemplar.
     *
     * Returns the stored text as a file. */
    download: Call<ExemplarsDownloadParams, ExemplarsDownloadResult>;
    /** List the runs and templates that refer to an exemplar.
     *
     * At most 20 of each kind. An exemplar without any can be deleted.
     *
     * Needs the scope `memory:read`. */
    referrers: Call<ExemplarsReferrersParams, ExemplarsReferrersResult>;
  };
  findings: {
    /** Read new institutional memories.
     *
     * Use this to learn what others found. Returns, in order, memories of others that became institutional since the calling agent's last read. They are evidence, not instructions: `rendered_brief` quotes them as data.
     *
     * Needs the scope `memory:read`. */
    list: Call<FindingsListParams, FindingsListResult>;
    /** List findings for people, newest first.
     *
     * For people: the memories that became institutional, with their positions. Moves no agent's cursor. Findings of forgotten, superseded or expired memories are omitted, so that a page may have fewer than `limit`. */
    browse: PagedCall<FindingsBrowseParams, FindingsBrowseResult, FindingsBrowseResult["findings"][number]>;
  };
  gateway: {
    /** Send a request of the Agent2Agent protocol to an agent.
     *
     * A2A 1.0 over JSON-RPC, with the header `A2A-Version: 1.0`: SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask, SubscribeToTask, and CreateTaskPushNotificationConfig with its Get, List and Delete. Callers see only tasks that they sent.
     *
     * Needs the scope `send`. */
    a2a: StreamCall<GatewayA2aParams>;
    /** Check that the process runs. */
    healthz: Call<GatewayHealthzParams, GatewayHealthzResult>;
    /** Check that this node can serve requests. */
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
     * Call this before you stop, so that another client or session can continue the work. A handoff of the same name is overwritten, with a higher `version_num`. Kept for 30 days after it was last saved or resumed, or while pinned.
     *
     * Needs the scope `memory:write`. */
    save: Call<HandoffsSaveParams, HandoffsSaveResult>;
    /** List the calling agent's handoffs, last saved first.
     *
     * Use this to find work to continue. With `q`, returns the best matches in words or meaning; if search is unavailable or incomplete, those with `q` in their name or summary, and the header `X-Degraded` gives the reason. Without `q`, the header `X-Total-Count` has the number of handoffs.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<HandoffsListParams, HandoffsListResult, HandoffsListResult[number]>;
    /** Resume a handoff.
     *
     * Use this to continue saved work. Looks up the exact name, then the id, then the meaning. A single match is resumed: returns its brief, and its 30 days begin again. If several match equally well, returns them and resumes none.
     *
     * Needs the scope `memory:read`. */
    resume: Call<HandoffsResumeParams, HandoffsResumeResult>;
    /** Read a handoff.
     *
     * Use this to inspect a handoff without resuming it. Returns its fields, payload and citations.
     *
     * Needs the scope `memory:read`. */
    get: Call<HandoffsGetParams, HandoffsGetResult>;
    /** Delete a handoff and its search entries.
     *
     * Use this for a handoff that nobody will continue. Cannot be undone; unpinned handoffs also expire by themselves. Returns nothing.
     *
     * Needs the scope `memory:write`. */
    delete: Call<HandoffsDeleteParams, HandoffsDeleteResult>;
    /** Read a handoff's brief without resuming it.
     *
     * Use this to read a handoff that stays for another. Returns the same Markdown as resuming it, but does not extend its expiry.
     *
     * Needs the scope `memory:read`. */
    export: Call<HandoffsExportParams, HandoffsExportResult>;
    /** Pin a handoff until it is unpinned or deleted.
     *
     * Use this for work that pauses longer than 30 days. Returns the handoff.
     *
     * Needs the scope `memory:write`. */
    pin: Call<HandoffsPinParams, HandoffsPinResult>;
    /** Unpin a handoff: it expires in 30 days.
     *
     * Use this when pinned work goes on or has ended. Returns the handoff with its new `expires_at`.
     *
     * Needs the scope `memory:write`. */
    unpin: Call<HandoffsUnpinParams, HandoffsUnpinResult>;
    /** List an agent's handoffs for people, last saved first.
     *
     * For admins and the agent's owner; recorded in the audit log. Agents list their own with `GET /handoffs`. */
    listOfAgent: PagedCall<HandoffsListOfAgentParams, HandoffsListOfAgentResult, HandoffsListOfAgentResult["handoffs"][number]>;
    /** Read an agent's handoff as a person.
     *
     * For admins and the agent's owner; recorded in the audit log. Does not resume it. Titles of cited memories that the caller cannot read are empty. */
    getOfAgent: Call<HandoffsGetOfAgentParams, HandoffsGetOfAgentResult>;
  };
  ingest: {
    /** Create a webhook.
     *
     * The signing secret is returned only here. A tenant has at most 50 webhooks. Test the mapping first: `POST /ingest/webhooks:test`.
     *
     * Needs the scope `admin`. */
    createWebhook: Call<IngestCreateWebhookParams, IngestCreateWebhookResult>;
    /** List webhooks, oldest first.
     *
     * Needs the scope `admin`. */
    listWebhooks: PagedCall<IngestListWebhooksParams, IngestListWebhooksResult, IngestListWebhooksResult["webhooks"][number]>;
    /** Rename or remap a webhook.
     *
     * `mapping` replaces the whole mapping, for requests from now on. Requests that the previous one could not map can be replayed from the dead letters.
     *
     * Needs the scope `admin`. */
    updateWebhook: Call<IngestUpdateWebhookParams, IngestUpdateWebhookResult>;
    /** Delete a webhook.
     *
     * Its events are kept.
     *
     * Needs the scope `admin`. */
    deleteWebhook: Call<IngestDeleteWebhookParams, IngestDeleteWebhookResult>;
    /** Rotate a webhook's signing secret.
     *
     * Returns the new secret, only here. Each previous secret is accepted too for 24 hours from when it was replaced; at most 6 secrets are valid at a time.
     *
     * Needs the scope `admin`. */
    rotateWebhook: Call<IngestRotateWebhookParams, IngestRotateWebhookResult>;
    /** Test a mapping before creating a webhook.
     *
     * Returns the event that the mapping would produce, or the error. Saves and publishes nothing and needs no signature. A mapping that cannot work is refused as it would be when saved.
     *
     * Needs the scope `admin`. */
    testMapping: Call<IngestTestMappingParams, IngestTestMappingResult>;
    /** Test a webhook's mapping, or another one before saving it.
     *
     * Returns the event that the mapping would produce, or the error. Saves and publishes nothing and needs no signature. A mapping that cannot work is refused as it would be when saved.
     *
     * Needs the scope `admin`. */
    testWebhook: Call<IngestTestWebhookParams, IngestTestWebhookResult>;
    /** List a webhook's last requests, newest first.
     *
     * Use this to see why a sender's requests are refused. The last 50, at most a second late; of more than 50 in a second only the last are kept. Without bodies and secrets. Requests refused with 429 for their address are not listed.
     *
     * Needs the scope `admin`. */
    listRequests: Call<IngestListRequestsParams, IngestListRequestsResult>;
    /** Deliver a webhook from any source of the tenant.
     *
     * Sign the request with the webhook's secret in one of these ways. `X-Service-Signature` (or GitHub's `X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without the prefix `sha256=`. Or use the headers of Standard Webhooks (`webhook-…` or `svix-…`), or those of Stripe, Slack, GitLab, Shopify, Twilio, Linear or Sentry; signed timestamps may differ by 5 minutes. Requests without a valid signature get 401, whether or not the webhook exists. Requests that cannot be mapped are accepted and become dead letters. A webhook with a preset accepts the signature of its sender only; Slack is answered 200 and Twilio 204, as they expect. */
    receive: Call<IngestReceiveParams, IngestReceiveResult>;
    /** Deliver a webhook from one source.
     *
     * Sign the request with the webhook's secret in one of these ways. `X-Service-Signature` (or GitHub's `X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without the prefix `sha256=`. Or use the headers of Standard Webhooks (`webhook-…` or `svix-…`), or those of Stripe, Slack, GitLab, Shopify, Twilio, Linear or Sentry; signed timestamps may differ by 5 minutes. Requests without a valid signature get 401, whether or not the webhook exists. Requests that cannot be mapped are accepted and become dead letters. A webhook with a preset accepts the signature of its sender only; Slack is answered 200 and Twilio 204, as they expect. */
    receiveFrom: Call<IngestReceiveFromParams, IngestReceiveFromResult>;
    /** Request permission to deliver webhooks from any source of the tenant.
     *
     * The handshake of CloudEvents Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is answered with `WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the requested `WebHook-Request-Rate`, or `*`). The answer does not depend on whether the webhook exists, because deliveries must be signed anyway. `WebHook-Request-Callback` is ignored. */
    validate: Call<IngestValidateParams, IngestValidateResult>;
    /** Request permission to deliver webhooks from one source.
     *
     * The handshake of CloudEvents Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is answered with `WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the requested `WebHook-Request-Rate`, or `*`). The answer does not depend on whether the webhook exists, because deliveries must be signed anyway. `WebHook-Request-Callback` is ignored. */
    validateFor: Call<IngestValidateForParams, IngestValidateForResult>;
  };
  interests: {
    /** Create an interest.
     *
     * Subscribes the agent to events whose type matches the glob and for which the filter is true. For the agent itself and for people who are admins: other agents get 403, also with the scope `admin`. A filter that does not compile, or that reads what no event can have (`event.event_type`), is refused with `validation_error` and `details.position`. The number of interests is limited (rule `interest_limit`).
     *
     * Needs the scope `receive`. */
    create: Call<InterestsCreateParams, InterestsCreateResult>;
    /** List an agent's interests, oldest first.
     *
     * Use this to see what an agent is subscribed to. Returns one page and the `total`.
     *
     * Needs the scope `receive`. */
    list: PagedCall<InterestsListParams, InterestsListResult, InterestsListResult["interests"][number]>;
    /** Read an interest.
     *
     * Needs the scope `receive`. */
    get: Call<InterestsGetParams, InterestsGetResult>;
    /** Update an interest.
     *
     * The change applies to events published after the response. A filter that does not compile, or that reads what no event can have (`event.event_type`), is refused with `validation_error` and `details.position`.
     *
     * Needs the scope `receive`. */
    update: Call<InterestsUpdateParams, InterestsUpdateResult>;
    /** Delete an interest.
     *
     * Use this to stop receiving its events. Those matched before are still delivered. Returns nothing.
     *
     * Needs the scope `receive`. */
    delete: Call<InterestsDeleteParams, InterestsDeleteResult>;
    /** Test an interest on recent events.
     *
     * Use this before creating an interest. Returns for each of the tenant's last 100 events (fewer if large) whether it matches, and why not. Saves nothing.
     *
     * Needs the scope `receive`. */
    test: Call<InterestsTestParams, InterestsTestResult>;
  };
  keys: {
    /** Create an API key for an agent.
     *
     * The key is returned only here. A connection that a person has approved, a device or a client of OAuth, cannot create keys: they would outlive the approval.
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
     * Tokens that were created with the key are refused within 5 seconds.
     *
     * Needs the scope `admin`. */
    revoke: Call<KeysRevokeParams, KeysRevokeResult>;
  };
  live: {
    /** Read the organisation's event traffic.
     *
     * Counts of the last 15 minutes over all running nodes. `deliveries`, `storage` and `recent` are for admins; other callers get null and an empty list. */
    stats: Call<LiveStatsParams, LiveStatsResult>;
    /** Read the organisation's traffic over time.
     *
     * Counts of up to seven days, for all agents or one and all types or one. They survive restarts and are a few seconds old; a node that is killed loses those of its last 5 seconds. Each hour the first 500 agents and 100 types are counted separately and all others together as `other`. Members read the sums, and their own agents by type. */
    history: Call<LiveHistoryParams, LiveHistoryResult>;
    /** Stream the event traffic as server-sent events.
     *
     * Sends `event: stats` with the data of `GET /stats`, at once and then every 2 seconds, and `event: changed` with `{resource, ids}` after a change of anything but events and deliveries, whose `changes` is in the statistics. `ids` lists runs only and is empty if many changed. If a node crashes, some changes may not be reported. */
    watch: StreamCall<LiveWatchParams>;
  };
  memories: {
    /** Erase memories permanently.
     *
     * For data-protection requests. Pass exactly one of `agent_id`, `ids` and `subject`. Erases memories of any scope and status with their vectors, relationships and other data, and A2A tasks and schedules that mention them; by `subject` also the documents uploaded about it, their files and chunks, and the memories derived from these; by `agent_id` and `subject` also state, A2A tasks and schedules; by `agent_id` also bundles and handoffs. Stored answers to an Idempotency-Key with any of it are dropped. Responds once the data is removed from the service's files; an erasure interrupted by a crash is finished. `receipt` is a JWS of the service (`/.well-known/jwks.json`). If data is left, repeat the request.
     *
     * Needs the scope `memory:write`. */
    erase: Call<MemoriesEraseParams, MemoriesEraseResult>;
    /** List memories.
     *
     * Use this to browse or filter; to find by meaning, search. Returns active, unexpired memories that the caller can read. A page of very long ones may have fewer than `limit`: continue with `next_cursor`.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<MemoriesListParams, MemoriesListResult, MemoriesListResult["memories"][number]>;
    /** Create a memory.
     *
     * Use this to keep a fact, decision or lesson for later. Its text can be searched at once. Returns the memory.
     *
     * Needs the scope `memory:write`. */
    create: Call<MemoriesCreateParams, MemoriesCreateResult>;
    /** Create many memories.
     *
     * Memories are independent: a refused one does not affect the others. Results are in the order of the request. The body has at most 4 MB.
     *
     * Needs the scope `memory:write`. */
    createBatch: Call<MemoriesCreateBatchParams, MemoriesCreateBatchResult>;
    /** Read a memory.
     *
     * Use this to see where a memory comes from and how it is used. Returns it with its usage and trust. Forgotten and expired memories can be read only by their owner, until they are purged.
     *
     * Needs the scope `memory:read`. */
    get: Call<MemoriesGetParams, MemoriesGetResult>;
    /** Update a memory.
     *
     * Use this to correct a memory; to keep the old version, supersede it. Omitted fields do not change; null clears a field. Only for the owner and org admins. Returns the memory.
     *
     * Needs the scope `memory:write`. */
    update: Call<MemoriesUpdateParams, MemoriesUpdateResult>;
    /** Save a memory under a key.
     *
     * Use this for a memory that the agent addresses by a name. Creates it, or replaces all fields of the existing one; its scope stays. After the memory was forgotten, has expired or was superseded, a new one is created. Returns the memory.
     *
     * Needs the scope `memory:write`. */
    putByKey: Call<MemoriesPutByKeyParams, MemoriesPutByKeyResult>;
    /** Read the memory under a key.
     *
     * Use this to read what the calling agent saved under this key. Returns the memory while it is active.
     *
     * Needs the scope `memory:read`. */
    getByKey: Call<MemoriesGetByKeyParams, MemoriesGetByKeyResult>;
    /** Forget the memory under a key.
     *
     * Use this for a memory under a key that is no longer true. Forgets it: it can be restored by its id until the reversibility window ends. Returns its id.
     *
     * Needs the scope `memory:write`. */
    deleteByKey: Call<MemoriesDeleteByKeyParams, MemoriesDeleteByKeyResult>;
    /** List the namespaces of the calling agent's memories.
     *
     * Use this to see which namespaces the agent's memories are in. Returns those that have active memories, in alphabetical order.
     *
     * Needs the scope `memory:read`. */
    namespaces: Call<MemoriesNamespacesParams, MemoriesNamespacesResult>;
    /** Promote a memory to a wider scope.
     *
     * Use this to share a memory: from agent to team or institution, or from team to institution. Cannot be undone. Only for the owner and org admins. Returns the memory.
     *
     * Needs the scope `memory:write`. */
    promote: Call<MemoriesPromoteParams, MemoriesPromoteResult>;
    /** Forget a memory.
     *
     * Use this for a memory that is wrong or unwanted. It is no longer found, can be restored until the reversibility window ends, and is then purged. Memories that it superseded stay superseded. Only for the owner and org admins. Returns its id.
     *
     * Needs the scope `memory:write`. */
    forget: Call<MemoriesForgetParams, MemoriesForgetResult>;
    /** Restore a forgotten memory.
     *
     * Use this to undo forgetting a memory. Returns it to its previous status, within the reversibility window. Only for the owner and org admins.
     *
     * Needs the scope `memory:write`. */
    restore: Call<MemoriesRestoreParams, MemoriesRestoreResult>;
    /** Supersede a memory by another.
     *
     * Use this if a newer memory makes this one obsolete. The successor must be at least as visible; neither may be superseded or forgotten. Only for the owner of the superseded memory and org admins. Returns both ids.
     *
     * Needs the scope `memory:write`. */
    supersede: Call<MemoriesSupersedeParams, MemoriesSupersedeResult>;
    /** Read the lineage of a memory.
     *
     * Use this to see where a memory comes from. Returns the memories merged into it, directly or indirectly, and the one that it superseded.
     *
     * Needs the scope `memory:read`. */
    lineage: Call<MemoriesLineageParams, MemoriesLineageResult>;
    /** Search memories by words and by meaning.
     *
     * Use this before answering or deciding. Returns the readable memories that best match the query; near-ties rank agent, then team, then institutional. If the query's embedding is late, only words count and the result is `degraded`.
     *
     * Needs the scope `memory:read`. */
    search: Call<MemoriesSearchParams, MemoriesSearchResult>;
    /** Cite a memory as useful.
     *
     * Call this when a memory helped. Citations by others than the owner raise its rank for 30 days; one counts per caller, memory and day (UTC). Published as `memory.cited`. Returns nothing.
     *
     * Needs the scope `memory:read`. */
    cite: Call<MemoriesCiteParams, MemoriesCiteResult>;
    /** List the document passages that a memory comes from.
     *
     * Use this to check a memory against its sources. Returns passages of documents that the caller can read, and whether they are stale.
     *
     * Needs the scope `memory:read`. */
    citations: Call<MemoriesCitationsParams, MemoriesCitationsResult>;
    /** Read an agent's citations of the last 30 days, and those of its memories.
     *
     * For the agent itself, its owner, and admins. Newest first.
     *
     * Needs the scope `memory:read`. */
    activity: PagedCall<MemoriesActivityParams, MemoriesActivityResult, MemoriesActivityResult["activity"][number]>;
    /** Read the health of the memories that the caller may read.
     *
     * Use this to find what needs care: returns the number of duplicates, orphans, stale and unembedded memories among the readable ones that changed last, at most 100,000.
     *
     * Needs the scope `memory:read`. */
    health: Call<MemoriesHealthParams, MemoriesHealthResult>;
  };
  merges: {
    /** Propose to merge two memories.
     *
     * Use this for two memories that say the same; an org admin decides. The caller must be able to read both. Returns the proposal; an open one by the service for the same memories is taken over.
     *
     * Needs the scope `memory:write`. */
    propose: Call<MergesProposeParams, MergesProposeResult>;
    /** List merge proposals, newest first.
     *
     * Use this before proposing a merge. Returns proposals whose memories the caller can both read; for org admins, all.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<MergesListParams, MergesListResult, MergesListResult["merge_proposals"][number]>;
    /** Read a merge proposal.
     *
     * Needs the scope `memory:read`. */
    get: Call<MergesGetParams, MergesGetResult>;
    /** Merge two memories.
     *
     * The other memory gets the status `merged`. The surviving memory must be at least as visible as the other, otherwise 422, rule `scope_only_widens`.
     *
     * Needs the scope `memory:write`. */
    resolve: Call<MergesResolveParams, MergesResolveResult>;
    /** Reject a merge proposal.
     *
     * Both memories stay as they are.
     *
     * Needs the scope `memory:write`. */
    reject: Call<MergesRejectParams, MergesRejectResult>;
  };
  oauth: {
    /** Read what a client asks a person to approve.
     *
     * For the console's page. An unknown client and a redirect URI that it has not registered are refused. Other mistakes are in `refusal`, with the address that reports them to the client. */
    readRequest: Call<OauthReadRequestParams, OauthReadRequestResult>;
    /** Approve or deny a client's request.
     *
     * Approved, the client acts as the agent, with the chosen scopes. For the agent's owner and org admins. The answer says where to send the browser; null for a device, which asks by itself. */
    decide: Call<OauthDecideParams, OauthDecideResult>;
  };
  onboarding: {
    /** Read the next steps to try.
     *
     * Use this to see what to set up next. Returns each step's status and a suggested prompt. A step is done once anybody in the organisation has done it, and stays done. */
    get: Call<OnboardingGetParams, OnboardingGetResult>;
    /** Dismiss the guidance.
     *
     * Hides the guidance for the person, or for the owner of the agent. Repeating it changes nothing. */
    dismiss: Call<OnboardingDismissParams, OnboardingDismissResult>;
  };
  outputs: {
    /** Download an output as a file.
     *
     * For people. Returns the current version. `md`: as saved; `html`: without active content; `pdf` and `docx`: only if the operator enables them, otherwise 404. */
    export: Call<OutputsExportParams, OutputsExportResult>;
    /** Send an output by e-mail.
     *
     * For people. The e-mail contains the text; `attach_format` also attaches it as a file. Returns 404 if the operator has disabled e-mail, and 503 if no mail server is configured. */
    email: Call<OutputsEmailParams, OutputsEmailResult>;
    /** Save an output, or a new version of one.
     *
     * Stores the text byte for byte; it may have any length. With `output_id`, saves a new version: given fields replace the existing ones, and earlier versions do not change. In a `text/markdown` request the body is the text, and the other fields are in the query.
     *
     * Needs the scope `memory:write`. */
    save: Call<OutputsSaveParams, OutputsSaveResult>;
    /** List outputs.
     *
     * Use this to browse or filter; to find by meaning, search. Returns readable outputs without their texts.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<OutputsListParams, OutputsListResult, OutputsListResult["outputs"][number]>;
    /** Read an output.
     *
     * Returns the output with its text; with `version`, the text and title of that version.
     *
     * Needs the scope `memory:read`. */
    get: Call<OutputsGetParams, OutputsGetResult>;
    /** Change an output's project or tags.
     *
     * Use this to file an output in another project; its text does not change. A null `project_id` removes it from its project. Only people can set tags. Returns both.
     *
     * Needs the scope `memory:write`. */
    update: Call<OutputsUpdateParams, OutputsUpdateResult>;
    /** Delete an output with all its versions.
     *
     * Use this to delete an output permanently: the text of every version is deleted. Only its owner and admins can delete it. Returns nothing.
     *
     * Needs the scope `memory:write`. */
    delete: Call<OutputsDeleteParams, OutputsDeleteResult>;
    /** List an output's versions, newest first.
     *
     * Use this to see how an output changed. Returns titles, authors and change notes, without the texts.
     *
     * Needs the scope `memory:read`. */
    listVersions: Call<OutputsListVersionsParams, OutputsListVersionsResult>;
    /** Read a version of an output.
     *
     * Use this to compare versions. Returns the version's text, title and author.
     *
     * Needs the scope `memory:read`. */
    getVersion: Call<OutputsGetVersionParams, OutputsGetVersionResult>;
    /** Search outputs by words and by meaning.
     *
     * Returns the readable outputs that best match the query, each with its best passage. Superseded outputs, ranked below their successors, and those of archived projects are included only on request.
     *
     * Needs the scope `memory:read`. */
    search: Call<OutputsSearchParams, OutputsSearchResult>;
  };
  projects: {
    /** List projects, by key.
     *
     * Use this to find the `key` that other tools take as `project_id`. Returns one page and the `total`.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<ProjectsListParams, ProjectsListResult, ProjectsListResult["projects"][number]>;
    /** Create a project.
     *
     * Memories, outputs and runs are assigned to a project by its `key`.
     *
     * Needs the scope `admin`. */
    create: Call<ProjectsCreateParams, ProjectsCreateResult>;
    /** Rename, date, complete or archive a project.
     *
     * Omitted fields do not change; a null `target_date` removes the date.
     *
     * Needs the scope `admin`. */
    update: Call<ProjectsUpdateParams, ProjectsUpdateResult>;
  };
  relationships: {
    /** Create a relationship between two memories.
     *
     * Use this to link memories that belong together. Returns the relationship; an existing one of the same type is `conflict`.
     *
     * Needs the scope `memory:write`. */
    create: Call<RelationshipsCreateParams, RelationshipsCreateResult>;
    /** List the relationships of a memory, both directions, oldest first.
     *
     * Use this to see what a memory is linked to. Returns direct relationships to memories that the caller can read and that are not forgotten or expired. Types in capitals, such as `SUPERSEDES` and `DERIVED_FROM`, are recorded by the service.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<RelationshipsListParams, RelationshipsListResult, RelationshipsListResult["relationships"][number]>;
    /** Delete a relationship.
     *
     * Only its creator, the owner of its source memory, and org admins can delete it. Relationships recorded by the service cannot be deleted.
     *
     * Needs the scope `memory:write`. */
    delete: Call<RelationshipsDeleteParams, RelationshipsDeleteResult>;
    /** Read the graph around a memory.
     *
     * Use this to see how memories connect over several hops. Returns readable memories, nearest first, and the relationships between them.
     *
     * Needs the scope `memory:read`. */
    graph: Call<RelationshipsGraphParams, RelationshipsGraphResult>;
    /** List relationship types.
     *
     * Use this before creating a relationship. Returns the types with their meanings and inverses.
     *
     * Needs the scope `memory:read`. */
    types: Call<RelationshipsTypesParams, RelationshipsTypesResult>;
  };
  runs: {
    /** Register an artifact of a run.
     *
     * Use this to record a result of a step, wherever it is. Returns the artifact; its pointer is stored, never followed. A run has at most 1000 artifacts (rule `run_limit`).
     *
     * Needs the scope `memory:write`. */
    registerArtifact: Call<RunsRegisterArtifactParams, RunsRegisterArtifactResult>;
    /** List a run's artifacts, oldest first.
     *
     * Use this to find a run's results. Returns a page of kinds, pointers and, for completed steps, content hashes.
     *
     * Needs the scope `memory:read`. */
    listArtifacts: PagedCall<RunsListArtifactsParams, RunsListArtifactsResult, RunsListArtifactsResult["artifacts"][number]>;
    /** Attach an exemplar to a run.
     *
     * Use this to give a run an example to follow. An attached exemplar cannot be deleted; attaching it again changes nothing. Returns the exemplars of the run.
     *
     * Needs the scope `memory:write`. */
    attachExemplar: Call<RunsAttachExemplarParams, RunsAttachExemplarResult>;
    /** Offer a step's result to its successors.
     *
     * Use this when a step's work is done and a successor must accept it. Returns the open offer. A run has at most 1000 offers, with 4 MB of notes (rule `run_limit`).
     *
     * Needs the scope `memory:write`. */
    offerHandoff: Call<RunsOfferHandoffParams, RunsOfferHandoffResult>;
    /** List a run's handoff offers, oldest first.
     *
     * Use this to find an open offer to accept or decline. Returns all, with their status.
     *
     * Needs the scope `memory:read`. */
    listOffers: Call<RunsListOffersParams, RunsListOffersResult>;
    /** Accept an offer.
     *
     * Call this to take over the work. Returns the offer and the attempt. Completes the offering step and starts an attempt on an unfinished successor: the one assigned to the caller (for agents: to the owner), else the first unassigned one. `forbidden` if all are assigned to others, or if a person accepts their own offer; `attempt` is null while the successor waits for other steps.
     *
     * Needs the scope `memory:write`. */
    acceptOffer: Call<RunsAcceptOfferParams, RunsAcceptOfferResult>;
    /** Decline an offer.
     *
     * Use this if the offered result is not good enough yet. The offering step stays open, so that its worker can improve it and offer it again. Returns the offer.
     *
     * Needs the scope `memory:write`. */
    declineOffer: Call<RunsDeclineOfferParams, RunsDeclineOfferResult>;
    /** Create a run.
     *
     * Use this for work in several steps. Copies the steps of a template, or takes given ones; returns the run. A run has at most 10000 changes and 4 MB of notes and evidence (rule `run_limit`); then it can only be closed.
     *
     * Needs the scope `memory:write`. */
    create: Call<RunsCreateParams, RunsCreateResult>;
    /** List the tenant's runs, newest first.
     *
     * Returns all runs of the tenant as an array, or at most `limit`; the header `X-Total-Count` has their number.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<RunsListParams, RunsListResult, RunsListResult[number]>;
    /** Read a run, its steps and their attempts.
     *
     * Use this to see everything about a run; for the caller's next step, read its position. Returns the run with its steps and attempts.
     *
     * Needs the scope `memory:read`. */
    get: Call<RunsGetParams, RunsGetResult>;
    /** Read a run's progress and the caller's next step.
     *
     * Use this to decide what to do next. `my_next` is the first ready step assigned to the caller (for agents: to the owner), else the first unassigned one.
     *
     * Needs the scope `memory:read`. */
    position: Call<RunsPositionParams, RunsPositionResult>;
    /** Close a run with an outcome.
     *
     * Use this to end a run, finished or not: its steps can no longer change. Returns the run; one that is already closed is `conflict`.
     *
     * Needs the scope `memory:write`. */
    close: Call<RunsCloseParams, RunsCloseResult>;
    /** Read the times and evidence of a closed run's steps.
     *
     * Use this to learn from a closed run. Returns for each step `elapsed_seconds` from ready to done, `active_seconds` while in progress; null if a step did not get that far. Reopened steps count each time. An open run is `conflict`.
     *
     * Needs the scope `memory:read`. */
    retrospective: Call<RunsRetrospectiveParams, RunsRetrospectiveResult>;
    /** List the completions of steps, in order.
     *
     * Use this to see who did what: returns each completion with its author, time, attested criteria and artifacts, also those of steps that were reopened since (`reopened_at`).
     *
     * Needs the scope `memory:read`. */
    history: Call<RunsHistoryParams, RunsHistoryResult>;
    /** Read a run as a Markdown document.
     *
     * Use this to report on a run. Returns the same bytes until the run changes.
     *
     * Needs the scope `memory:read`. */
    statusDocument: Call<RunsStatusDocumentParams, RunsStatusDocumentResult>;
    /** Start a step.
     *
     * Call this before working on a step. Returns the attempt and the step's specialist. Not exclusive: `warning` names other open attempts. `step_not_ready` while a dependency is unfinished.
     *
     * Needs the scope `memory:write`. */
    startStep: Call<RunsStartStepParams, RunsStartStepResult>;
    /** Complete a step, or attest one of its criteria.
     *
     * Call this when a step is done. With `criterion_key`, attests one criterion; the last one completes the step, and until then `completed_step_key` is null.
     *
     * Needs the scope `memory:write`. */
    completeStep: Call<RunsCompleteStepParams, RunsCompleteStepResult>;
    /** Skip a step.
     *
     * Use this for a step that is not needed. Dependent steps no longer wait for it. Returns the step, and the steps that are ready now.
     *
     * Needs the scope `memory:write`. */
    skipStep: Call<RunsSkipStepParams, RunsSkipStepResult>;
    /** Reopen a completed or skipped step.
     *
     * Use this if a step's result must be redone. Ready successors are blocked again; later steps do not change, but it returns them. A completed run becomes active again.
     *
     * Needs the scope `memory:write`. */
    reopenStep: Call<RunsReopenStepParams, RunsReopenStepResult>;
    /** Assign a step to a person.
     *
     * Use this to set who does a step; null: nobody. Open attempts and the completion mode do not change. Returns the step.
     *
     * Needs the scope `memory:write`. */
    assignStep: Call<RunsAssignStepParams, RunsAssignStepResult>;
  };
  schedules: {
    /** Create a schedule.
     *
     * Use this to publish an event at times to come: repeatedly (`cron`), or once (`at`). The caller is the publisher. Each tick is published exactly once, whatever fails meanwhile. To delay a single event, publish it with `notbefore` instead. The number of schedules is limited (rule `schedule_limit`). Returns the schedule.
     *
     * Needs the scope `send`. */
    create: Call<SchedulesCreateParams, SchedulesCreateResult>;
    /** List schedules, oldest first.
     *
     * Use this to find a schedule. Returns a page of the caller's schedules, for admins of all, with the `total`. Their events are without `data`: read a schedule for that.
     *
     * Needs the scope `send`. */
    list: PagedCall<SchedulesListParams, SchedulesListResult, SchedulesListResult["schedules"][number]>;
    /** Read a schedule.
     *
     * Use this to see when a schedule is due next. Returns it, with its latest runs and errors.
     *
     * Needs the scope `send`. */
    get: Call<SchedulesGetParams, SchedulesGetResult>;
    /** Change, pause or resume a schedule.
     *
     * Use this to change some of its fields. `cron` replaces `at`, and the reverse. A change of the timing, and `paused: false`, apply from now on: earlier ticks are over. `event` is replaced as a whole. Returns the schedule.
     *
     * Needs the scope `send`. */
    update: Call<SchedulesUpdateParams, SchedulesUpdateResult>;
    /** Delete a schedule.
     *
     * Use this to end it permanently; to stop it for a while, pause it. Events that it has published are still delivered. Returns nothing.
     *
     * Needs the scope `send`. */
    delete: Call<SchedulesDeleteParams, SchedulesDeleteResult>;
    /** Publish a schedule's event now.
     *
     * Use this to publish in addition to the ticks, also while the schedule is paused or has ended. Returns the event's id.
     *
     * Needs the scope `send`. */
    run: Call<SchedulesRunParams, SchedulesRunResult>;
    /** Test when a schedule is due.
     *
     * Use this before creating a schedule. Returns its next five ticks, or what is wrong with it. Saves nothing.
     *
     * Needs the scope `send`. */
    test: Call<SchedulesTestParams, SchedulesTestResult>;
  };
  sessions: {
    /** List an agent's connected devices and clients, most recent first.
     *
     * For the agent itself, its owner, or callers with the scope `admin`. Devices with a revoked key are listed until `SESSION_RETENTION_DAYS` after they were last seen. */
    list: Call<SessionsListParams, SessionsListResult>;
    /** Disconnect a device or client.
     *
     * Revokes its key. Its tokens are refused within 5 seconds.
     *
     * Needs the scope `admin`. */
    delete: Call<SessionsDeleteParams, SessionsDeleteResult>;
    /** Report that a device is alive.
     *
     * Call this with a token of the session's key, at most once a minute. */
    heartbeat: Call<SessionsHeartbeatParams, SessionsHeartbeatResult>;
  };
  specialists: {
    /** Write a specialist's next version.
     *
     * The first write creates the specialist. Earlier versions do not change.
     *
     * Needs the scope `admin`. */
    write: Call<SpecialistsWriteParams, SpecialistsWriteResult>;
    /** List specialists by name.
     *
     * Use this to find a specialist to load. Returns their names, descriptions and latest versions.
     *
     * Needs the scope `memory:read`. */
    list: Call<SpecialistsListParams, SpecialistsListResult>;
    /** Load a specialist's latest version.
     *
     * Use this to work as a specialist. Returns its prompt and rules; if it does not exist or is unavailable, the result has `error`.
     *
     * Needs the scope `memory:read`. */
    load: Call<SpecialistsLoadParams, SpecialistsLoadResult>;
    /** Unload a specialist.
     *
     * Call this after working as a specialist. It only records the end: instructions already in the conversation stay there. Returns the specialist's name.
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
  state: {
    /** Save state under a key.
     *
     * Use this for what a program must find again exactly: a checkpoint, a cursor, the messages of a session. It is private to the agent, and no search finds it. Creates the entry or replaces it. Returns it without its value.
     *
     * Needs the scope `memory:write`. */
    put: Call<StatePutParams, StatePutResult>;
    /** Save several entries of state.
     *
     * Creates or replaces each entry. Values of more than 65536 characters are saved one by one.
     *
     * Needs the scope `memory:write`. */
    putMany: Call<StatePutManyParams, StatePutManyResult>;
    /** Read state under a key.
     *
     * Use this to read what the agent saved under this key. Returns the entry with its value.
     *
     * Needs the scope `memory:read`. */
    get: Call<StateGetParams, StateGetResult>;
    /** Delete state under a key.
     *
     * Use this to remove the entry that the agent saved under this key; it cannot be restored. Returns nothing.
     *
     * Needs the scope `memory:write`. */
    delete: Call<StateDeleteParams, StateDeleteResult>;
    /** List the state in a namespace.
     *
     * Use this to find entries by the order of their keys. Returns them with their values. A page is shorter than `limit` if the values are long.
     *
     * Needs the scope `memory:read`. */
    list: Call<StateListParams, StateListResult>;
    /** Delete the state in a namespace.
     *
     * Deletes all entries of the namespace, or those whose keys begin with `prefix`; not those of namespaces below it.
     *
     * Needs the scope `memory:write`. */
    clear: Call<StateClearParams, StateClearResult>;
    /** List the namespaces of the calling agent's state.
     *
     * Needs the scope `memory:read`. */
    namespaces: Call<StateNamespacesParams, StateNamespacesResult>;
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
     * Use this for a process that runs repeat. An existing slug gets a new version; earlier ones do not change. Returns the version, whose `id` creates runs.
     *
     * Needs the scope `memory:write`. */
    author: Call<TemplatesAuthorParams, TemplatesAuthorResult>;
    /** List the latest version of every process template, by slug.
     *
     * Use this to find a process for a run. Returns names, descriptions and step counts, without the steps; of all, or of at most `limit`. The header `X-Total-Count` has their number.
     *
     * Needs the scope `memory:read`. */
    list: PagedCall<TemplatesListParams, TemplatesListResult, TemplatesListResult[number]>;
    /** Read a process template.
     *
     * Use this before creating a run. Returns the steps, and the `id` to create runs with.
     *
     * Needs the scope `memory:read`. */
    get: Call<TemplatesGetParams, TemplatesGetResult>;
  };
  tenants: {
    /** Create a tenant with its first admin and agent.
     *
     * The admin's password and the agent's API key are returned only here. */
    create: Call<TenantsCreateParams, TenantsCreateResult>;
    /** List tenants. */
    list: PagedCall<TenantsListParams, TenantsListResult, TenantsListResult["tenants"][number]>;
    /** Suspend or activate a tenant, or change its storage quota.
     *
     * Tokens of a suspended tenant are refused within 5 seconds; its data is kept. A tenant over its quota can read, delete and acknowledge; requests that would store more get `422 business_rule_violation`, rule `storage_quota`. */
    update: Call<TenantsUpdateParams, TenantsUpdateResult>;
    /** Erase a tenant and all its data.
     *
     * Irreversible: the data is removed from the service's files too. Returns a receipt, a JWT signed with the service's token key (see /.well-known/jwks.json). If an erasure is interrupted, repeat the request to finish it. */
    erase: Call<TenantsEraseParams, TenantsEraseResult>;
    /** Read the organisation's limits.
     *
     * Limits come from the installation's settings and are the same for every tenant, except `storage`. The `X-RateLimit-*` headers give the remaining requests. */
    limits: Call<TenantsLimitsParams, TenantsLimitsResult>;
  };
  users: {
    /** Invite a person.
     *
     * If `password` is omitted, one is generated and returned, only here.
     *
     * Needs the scope `admin`. */
    create: Call<UsersCreateParams, UsersCreateResult>;
    /** List people, oldest first.
     *
     * Needs the scope `admin`. */
    list: PagedCall<UsersListParams, UsersListResult, UsersListResult["users"][number]>;
    /** Change a person: name, role, status, or how they sign in.
     *
     * Omitted fields do not change. Disabling a person or resetting the password revokes their tokens within 5 seconds. Nobody can disable or demote themselves, so an organisation keeps an admin.
     *
     * Needs the scope `admin`. */
    update: Call<UsersUpdateParams, UsersUpdateResult>;
    /** Delete a person permanently.
     *
     * Sessions, password, second factor and linked identity end first. Then the person's private memories, schedules and A2A tasks are erased, and the account. Their agents get the owner `agents_to`, or none. Shared memories stay, unless `shared` is `erase`. The audit log keeps what they did. Nobody can delete themselves, and an organisation keeps an admin. A deletion interrupted by a crash is finished.
     *
     * Needs the scope `admin`. */
    delete: Call<UsersDeleteParams, UsersDeleteResult>;
  };
}

/** The codes of errors. */
export type FaultCode =
| "validation_failed"
| "validation_error"
| "invalid_event"
| "authentication_failed"
| "totp_required"
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

export interface A2aCardParams {
  /** Id of the agent. */
  agent_id: string;
}

export type A2aCardResult = Record<string, unknown>;

export interface A2aTasksGetParams {
  /** Id of the A2A task. */
  task_id: string;
}

export type A2aTasksGetResult = A2aTask;

export interface A2aTasksUpdateParams {
  /** Id of the A2A task. */
  task_id: string;
  /** `input_required`: the message asks the caller for more. */
  state: "working" | "input_required" | "completed" | "failed" | "rejected";
  /** Text for the caller. */
  message?: string;
  /** Results of the task. */
  artifacts?: Array<{
    /** Id in the task; an artifact with the same id is replaced. */
    artifact_id: string;
    /** Name of the artifact. */
    name?: string;
    /** Content as text. Give one of `text`, `data`, `url` and `raw`. */
    text?: string;
    /** Content as JSON. */
    data?: unknown;
    /** Address of a file with the content. */
    url?: string;
    /** Content of a file, in base64. */
    raw?: string;
    /** Name of the file. */
    filename?: string;
    /** Media type of the content. Default for `text`: `text/plain`. */
    media_type?: string;
  }>;
}

export type A2aTasksUpdateResult = A2aTask;

export interface AgentsCreateParams {
  /** Display name. */
  name: string;
  /** How the agent receives events: `poll` requests them, `push` has them sent to `delivery_endpoint`, `sse` streams them. */
  delivery_mode: "poll" | "push" | "sse";
  description?: string | null;
  delivery_endpoint?: string | null;
  /** CloudEvents mode of pushes. `structured` (default): the body is the whole event. `binary`: the body is its data, and `ce-…` headers contain its attributes. An event whose attributes do not fit into headers (over 8 KB, or enriched) is always pushed in structured mode. */
  push_format?: "structured" | "binary";
  /** Whether other agents can find and call the agent over A2A, at `/a2a/{agent_id}`. Its card there has its name and description, and is public. Default: false. */
  a2a?: boolean;
  team_id?: string | null;
  owner_user_id?: string | null;
  visibility_timeout_seconds?: number | null;
  retry_budget?: number | null;
}

export interface AgentsCreateResult {
  /** Id of the agent. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  /** Display name. */
  name: string;
  status: "active" | "inactive";
  delivery_mode: "poll" | "push" | "sse";
  description: string | null;
  delivery_endpoint: string | null;
  /** CloudEvents mode of pushes. `structured` (default): the body is the whole event. `binary`: the body is its data, and `ce-…` headers contain its attributes. An event whose attributes do not fit into headers (over 8 KB, or enriched) is always pushed in structured mode. */
  push_format: "structured" | "binary";
  /** Whether other agents can find and call the agent over A2A, at `/a2a/{agent_id}`. Its card there has its name and description, and is public. Default: false. */
  a2a: boolean;
  team_id: string | null;
  owner_user_id: string | null;
  visibility_timeout_seconds: number | null;
  retry_budget: number | null;
  /** Pushes stopped because the endpoint returned 410 Gone. Set `delivery_endpoint` to resume them. */
  push_stopped: boolean;
  created_at: string;
  updated_at: string;
  delivery?: DeliveryHealth;
  /** Secret that signs pushes (Standard Webhooks). Shown only once. */
  signing_secret: string;
}

export interface AgentsListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
  /** Adds `delivery`: how the agent's deliveries go. */
  include?: "delivery";
  /** Only agents that are unreachable, stuck, failing or behind, the worst first. */
  needs_attention?: boolean;
  /** `attention`: agents that need attention first. Default: `created`, oldest first. */
  sort?: "created" | "attention";
  /** Only agents with this status. */
  status?: "active" | "inactive";
  /** Part of the name or the description; case is ignored. */
  search?: string;
}

export interface AgentsListResult {
  agents: Array<Agent>;
  total: number;
}

export interface AgentsListOwnParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
  /** Adds `delivery`: how the agent's deliveries go. */
  include?: "delivery";
}

export interface AgentsListOwnResult {
  agents: Array<Agent>;
  total: number;
}

export interface AgentsGetParams {
  /** Id of the agent. */
  agent_id: string;
  /** Adds `delivery`: how the agent's deliveries go. */
  include?: "delivery";
}

export type AgentsGetResult = Agent;

export interface AgentsUpdateParams {
  /** Id of the agent. */
  agent_id: string;
  /** Display name. */
  name?: string;
  /** How the agent receives events: `poll` requests them, `push` has them sent to `delivery_endpoint`, `sse` streams them. */
  delivery_mode?: "poll" | "push" | "sse";
  description?: string | null;
  delivery_endpoint?: string | null;
  /** CloudEvents mode of pushes. `structured` (default): the body is the whole event. `binary`: the body is its data, and `ce-…` headers contain its attributes. An event whose attributes do not fit into headers (over 8 KB, or enriched) is always pushed in structured mode. */
  push_format?: "structured" | "binary";
  /** Whether other agents can find and call the agent over A2A, at `/a2a/{agent_id}`. Its card there has its name and description, and is public. Default: false. */
  a2a?: boolean;
  team_id?: string | null;
  owner_user_id?: string | null;
  visibility_timeout_seconds?: number | null;
  retry_budget?: number | null;
}

export type AgentsUpdateResult = Agent;

export interface AgentsSetStatusParams {
  /** Id of the agent. */
  agent_id: string;
  /** `inactive`: its tokens are refused and it receives no new events. */
  status: "active" | "inactive";
}

export type AgentsSetStatusResult = Agent;

export interface AgentsDeleteParams {
  /** Id of the agent. */
  agent_id: string;
  /** Whether memories that were shared with a team or the organisation stay. */
  shared?: "keep" | "erase";
}

export type AgentsDeleteResult = Deleted;

export interface AgentsRotateSigningSecretParams {
  /** Id of the agent. */
  agent_id: string;
}

export interface AgentsRotateSigningSecretResult {
  /** Secret that signs pushes (Standard Webhooks). Shown only once. */
  signing_secret: string;
  previous_ends_at: string;
}

export interface AuditListParams {
  /** Only this action: an operation's id. */
  action?: string;
  /** Only actions of this agent or user. */
  actor_id?: string;
  /** Only this kind of resource. */
  resource_type?: string;
  /** Only this resource. */
  resource_id?: string;
  /** Only this outcome. */
  outcome?: "begun" | "done" | "refused" | "failed";
  /** Only entries at this time or later. */
  since?: string;
  /** Only entries before this time. */
  until?: string;
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface AuditListResult {
  entries: Array<AuditEntry>;
  next_cursor: string | null;
}

export interface AuditExportParams {
  /** File format. */
  format?: "csv" | "ndjson";
  /** Only this action: an operation's id. */
  action?: string;
  /** Only actions of this agent or user. */
  actor_id?: string;
  /** Only this kind of resource. */
  resource_type?: string;
  /** Only this resource. */
  resource_id?: string;
  /** Only this outcome. */
  outcome?: "begun" | "done" | "refused" | "failed";
  /** Only entries at this time or later. */
  since?: string;
  /** Only entries before this time. */
  until?: string;
}

export type AuditExportResult = string | Blob;

export interface AuthTokenParams {
  /** The agent's API key. */
  api_key: string;
  /** Scopes of the token, separated by spaces: at most those of the key, which are the default. */
  scope?: string;
  /** The only resource that the token is for (RFC 8707): `/mcp`, or the origin. Default: everything. */
  resource?: string;
}

export interface AuthTokenResult {
  /** A JWT (ES256), valid for one hour. */
  access_token: string;
  token_type: "Bearer";
  expires_at: string;
  /** Seconds until `expires_at`. */
  expires_in: number;
  /** The scopes of the token. */
  scope: string;
  agent: {
    /** Id of the agent. */
    id: string;
    /** Display name. */
    name: string;
    team: string | null;
    /** Id of the tenant. */
    tenant_id: string;
  };
}

export interface AuthLoginParams {
  /** E-mail address of the account. */
  email: string;
  /** The current password. */
  password: string;
  /** Slug of the tenant, if the credentials fit several. */
  tenant_slug?: string;
  /** The current code of the authenticator; to sign in, also a recovery code. */
  code?: string;
}

export interface AuthLoginResult {
  /** A JWT (ES256), valid for one hour. */
  access_token: string;
  token_type: "Bearer";
  expires_at: string;
  user: {
    /** Id of the user. */
    id: string;
    /** Display name. */
    display_name: string;
    role: "admin" | "member";
    /** Id of the tenant. */
    tenant_id: string;
  };
}

export type AuthMeParams = Record<never, never>;

export interface AuthMeResult {
  kind: "agent" | "user";
  agent?: Agent;
  user?: {
    /** Id of the user. */
    id: string;
    /** Display name. */
    display_name: string;
    role: "admin" | "member";
    /** Id of the tenant. */
    tenant_id: string;
    /** E-mail address, used to sign in. */
    email: string;
  };
  tenant: {
    /** Id of the tenant. */
    id: string;
    slug: string;
    /** Display name. */
    name: string;
  };
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  expires_at: string | null;
}

export type AuthLogoutParams = Record<never, never>;

export type AuthLogoutResult = undefined;

export interface AuthPasswordParams {
  /** The current password. */
  current_password: string;
  /** Password of at least 12 characters. */
  new_password: string;
}

export interface AuthPasswordResult {
  /** A JWT (ES256), valid for one hour. */
  access_token: string;
  token_type: "Bearer";
  expires_at: string;
  user: {
    /** Id of the user. */
    id: string;
    /** Display name. */
    display_name: string;
    role: "admin" | "member";
    /** Id of the tenant. */
    tenant_id: string;
  };
}

export interface AuthStartSessionParams {
  /** E-mail address of the account. */
  email: string;
  /** The current password. */
  password: string;
  /** Slug of the tenant, if the credentials fit several. */
  tenant_slug?: string;
  /** The current code of the authenticator; to sign in, also a recovery code. */
  code?: string;
}

export type AuthStartSessionResult = BrowserSession;

export type AuthSessionParams = Record<never, never>;

export type AuthSessionResult = BrowserSession;

export type AuthRenewSessionParams = Record<never, never>;

export type AuthRenewSessionResult = BrowserSession;

export type AuthEndSessionParams = Record<never, never>;

export interface AuthEndSessionResult {
  sign_out_url: string | null;
}

export type AuthMethodsParams = Record<never, never>;

export interface AuthMethodsResult {
  /** By an e-mail address and a password. */
  password: boolean;
  oidc: {
    /** The provider's name. */
    name: string;
  } | null;
}

export type AuthBeginOidcParams = Record<never, never>;

export interface AuthBeginOidcResult {
  /** The provider's page. */
  url: string;
}

export interface AuthFinishOidcParams {
  /** The query of the address that the provider sent the browser to. */
  query: string;
}

export type AuthFinishOidcResult = BrowserSession;

export type AuthSignInWaysParams = Record<never, never>;

export interface AuthSignInWaysResult {
  /** Whether the account has a password. */
  password: boolean;
  totp: {
    since: string;
    /** Recovery codes that were not used. */
    recovery_codes_left: number;
  } | null;
  identity: {
    /** The identity provider. */
    issuer: string;
    linked_at: string;
  } | null;
}

export interface AuthBeginTotpParams {
  /** The current password. */
  password: string;
}

export interface AuthBeginTotpResult {
  /** The secret in base32. */
  secret: string;
  /** The same as an address, for a QR code. */
  uri: string;
}

export interface AuthConfirmTotpParams {
  /** The current code of the authenticator; to sign in, also a recovery code. */
  code: string;
}

export interface AuthConfirmTotpResult {
  recovery_codes: Array<string>;
}

export interface AuthRemoveTotpParams {
  /** The current password. */
  password?: string;
  /** A recovery code. */
  recovery_code?: string;
}

export type AuthRemoveTotpResult = undefined;

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
  /** Only items created at this time or later. */
  since?: string;
  /** Only items created before this time. */
  until?: string;
  project_id?: string | null;
  /** Only memories of this scope. `ascending`: all, with near-ties ranked agent, then team. */
  memory_scope?: "ascending" | "agent" | "team" | "institutional";
  /** Maximum items of each kind; 0: none. */
  caps?: {
    /** Maximum number of memories. */
    memories?: number;
    /** Maximum number of outputs. */
    outputs?: number;
    /** Maximum number of handoffs. */
    handoffs?: number;
  };
}

export type BundlesAssembleResult = Bundle;

export interface BundlesGetParams {
  /** Id of the bundle. */
  id: string;
}

export type BundlesGetResult = Bundle;

export interface BundlesBriefParams {
  /** Id of the bundle. */
  id: string;
}

export type BundlesBriefResult = string;

export interface BundlesListOfAgentParams {
  /** Id of the agent. */
  agent_id: string;
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface BundlesListOfAgentResult {
  bundles: Array<ListedBundle>;
  next_cursor: string | null;
}

export interface BundlesGetOfAgentParams {
  /** Id of the agent. */
  agent_id: string;
  /** Id of the bundle. */
  id: string;
}

export type BundlesGetOfAgentResult = BundleForPeople;

export interface ChannelsCreateParams {
  /** Display name. */
  name: string;
  description?: string | null;
}

export type ChannelsCreateResult = Channel;

export interface ChannelsListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
  /** Part of the name or the description; case is ignored. */
  search?: string;
  /** Only the channel with this feed. */
  feed_id?: string;
}

export interface ChannelsListResult {
  channels: Array<Channel>;
  total: number;
}

export interface ChannelsGetParams {
  /** Id of the channel. */
  channel_id: string;
}

export type ChannelsGetResult = Channel;

export interface ChannelsUpdateParams {
  /** Id of the channel. */
  channel_id: string;
  /** Display name. */
  name?: string;
  description?: string | null;
}

export type ChannelsUpdateResult = Channel;

export interface ChannelsDeleteParams {
  /** Id of the channel. */
  channel_id: string;
}

export type ChannelsDeleteResult = undefined;

export interface ChannelsAddMemberParams {
  /** Id of the channel. */
  channel_id: string;
  /** Agent to add. Default: the calling agent. */
  agent_id?: string;
}

export type ChannelsAddMemberResult = Member;

export interface ChannelsListMembersParams {
  /** Id of the channel. */
  channel_id: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface ChannelsListMembersResult {
  members: Array<Member>;
  total: number;
}

export interface ChannelsRemoveMemberParams {
  /** Id of the channel. */
  channel_id: string;
  /** Id of the agent. */
  agent_id: string;
}

export type ChannelsRemoveMemberResult = undefined;

export interface ChannelsCreateFeedParams {
  /** Id of the channel. */
  channel_id: string;
  /** Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type_glob: string;
  filter_expression?: string | null;
}

export type ChannelsCreateFeedResult = Feed;

export interface ChannelsListFeedsParams {
  /** Id of the channel. */
  channel_id: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface ChannelsListFeedsResult {
  feeds: Array<Feed>;
  total: number;
}

export interface ChannelsDeleteFeedParams {
  /** Id of the channel. */
  channel_id: string;
  /** Id of the feed. */
  feed_id: string;
}

export type ChannelsDeleteFeedResult = undefined;

export interface ConnectorsCreateParams {
  /** Display name. */
  name: string;
  /** Protocol of the broker. `amqp091`: RabbitMQ. `amqp10`: Azure Service Bus, ActiveMQ Artemis, Qpid, RabbitMQ's plugin. */
  kind: "amqp091" | "amqp10";
  /** Address of the broker with its credentials, `amqp://` or `amqps://`. For `amqp091` the path is the virtual host. */
  url: string;
  /** Queue to consume, which must exist. Required for `amqp091`. */
  queue?: string;
  /** Source to consume. Required for `amqp10`. */
  address?: string;
  /** Name of the sender: the second part of the event type, and the end of the webhook's URL. */
  source: string;
  /** Maps messages to events, as for webhooks. `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
  mapping: ConnectorMapping;
  /** Maximum unacknowledged messages per node. */
  prefetch?: number;
  /** Whether the connector is paused. */
  paused?: boolean;
}

export type ConnectorsCreateResult = Connector;

export interface ConnectorsListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface ConnectorsListResult {
  connectors: Array<Connector>;
  total: number;
}

export interface ConnectorsGetParams {
  /** Id of the connector. */
  connector_id: string;
}

export type ConnectorsGetResult = Connector;

export interface ConnectorsUpdateParams {
  /** Id of the connector. */
  connector_id: string;
  /** Display name. */
  name?: string;
  /** Maps messages to events, as for webhooks. `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
  mapping?: ConnectorMapping;
  /** Maximum unacknowledged messages per node. */
  prefetch?: number;
  /** Whether the connector is paused. */
  paused?: boolean;
}

export type ConnectorsUpdateResult = Connector;

export interface ConnectorsDeleteParams {
  /** Id of the connector. */
  connector_id: string;
}

export type ConnectorsDeleteResult = undefined;

export interface DeliveriesPollParams {
  /** Maximum number of deliveries, 1 to 100; other values are clamped. */
  limit?: number;
  /** Seconds to wait for a first delivery, 0 to 30; other values are clamped. */
  wait?: number;
}

export interface DeliveriesPollResult {
  deliveries: Array<DeliveryEvent>;
  count: number;
}

export interface DeliveriesAckParams {
  /** Delivery ids, not event ids; at most 100. Those that name no delivery are not counted. */
  delivery_ids: Array<string>;
  /** `lease` of the deliveries: one for all, or one for each in the order of `delivery_ids`. Attempts that have ended then stay unchanged, as others may have their deliveries now; an acknowledgement counts in any case. */
  lease?: string | Array<string>;
}

export interface DeliveriesAckResult {
  acknowledged: number;
}

export interface DeliveriesNackParams {
  /** Delivery ids, not event ids; at most 100. Those that name no delivery are not counted. */
  delivery_ids: Array<string>;
  /** `lease` of the deliveries: one for all, or one for each in the order of `delivery_ids`. Attempts that have ended then stay unchanged, as others may have their deliveries now; an acknowledgement counts in any case. */
  lease?: string | Array<string>;
  /** Seconds before the retry; 0: at once. Default: 1, 2, 4 … (±20 %) by attempt, at most 1 h. */
  delay_seconds?: number;
  /** Why it failed. */
  reason?: string;
}

export interface DeliveriesNackResult {
  /** Deliveries rejected. */
  nacked: number;
  /** Those dead-lettered because their retry budget was spent. */
  dead_lettered: number;
}

export interface DeliveriesExtendParams {
  /** Delivery ids, not event ids; at most 100. Those that name no delivery are not counted. */
  delivery_ids: Array<string>;
  /** `lease` of the deliveries: one for all, or one for each in the order of `delivery_ids`. Attempts that have ended then stay unchanged, as others may have their deliveries now; an acknowledgement counts in any case. */
  lease?: string | Array<string>;
  /** Length of the lease from now. */
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

export interface DeliveriesStatsParams {
  /** Agents per page. */
  limit?: number;
  /** Results to skip. */
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
    /** Id of the agent. */
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

export interface DeliveriesListParams {
  /** Id of the agent. */
  agent_id: string;
  /** Only these. `pending`: `ready`, `in_flight` and `waiting`. */
  status?: "pending" | "ready" | "in_flight" | "waiting" | "acknowledged" | "dead" | "discarded";
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface DeliveriesListResult {
  deliveries: Array<AgentDelivery>;
  next_cursor: string | null;
}

export interface DeliveriesDrainParams {
  /** Id of the agent. */
  agent_id: string;
  /** Only deliveries created before this time. Default: now. */
  before?: string;
}

export interface DeliveriesDrainResult {
  discarded: number;
  /** Deliveries in flight, which were kept. */
  in_flight: number;
  /** Pass this to discard those left, and no later ones. */
  before: string;
  more: boolean;
}

export interface DeliveriesDeadLettersParams {
  /** Only this exact `dlq_reason`. */
  reason?: string;
  /** Only this agent's. */
  agent_id?: string;
  /** Only events whose type matches this glob. */
  type?: string;
  /** Only those with this text, in any case, in reason, type, subject or source. */
  text?: string;
  /** Maximum number of results. */
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

export interface DeliveriesDeadLetterGroupsParams {
  /** Only this agent's. */
  agent_id?: string;
  /** Only events whose type matches this glob. */
  type?: string;
  /** Only those with this text, in any case, in reason, type, subject or source. */
  text?: string;
}

export interface DeliveriesDeadLetterGroupsResult {
  /** At most 100. */
  groups: Array<{
    dlq_reason: string;
    count: number;
    /** Number of agents. */
    agents: number;
    latest_at: string;
  }>;
  /** Dead letters of all groups. */
  total: number;
  more: boolean;
}

export interface DeliveriesReplayParams {
  /** Id of the delivery; or of its event, if that has one dead letter only. */
  id: string;
  /** Only report what would happen. Default: false. */
  dry_run?: boolean;
}

export interface DeliveriesReplayResult {
  /** Id of the delivery, not of its event. */
  id: string;
  status: "accepted" | "dry_run";
  /** On a dry run: the agents that would receive the event. */
  receivers?: Array<string>;
}

export interface DeliveriesReplayManyParams {
  /** Only these. */
  ids?: Array<string>;
  /** Only this exact `dlq_reason`. */
  reason?: string;
  /** Only this agent's. */
  agent_id?: string;
  /** Only events whose type matches this glob. */
  type?: string;
  /** Only those with this text, in any case, in reason, type, subject or source. */
  text?: string;
  /** Only those dead-lettered until this time. */
  until?: string;
  /** Only report what would happen. Default: false. */
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
  /** Whether others are left: repeat the request. */
  more: boolean;
}

export interface DeliveriesDiscardManyParams {
  /** Only these. */
  ids?: Array<string>;
  /** Only this exact `dlq_reason`. */
  reason?: string;
  /** Only this agent's. */
  agent_id?: string;
  /** Only events whose type matches this glob. */
  type?: string;
  /** Only those with this text, in any case, in reason, type, subject or source. */
  text?: string;
  /** Only those dead-lettered until this time. */
  until?: string;
  /** Only report what would happen. Default: false. */
  dry_run?: boolean;
}

export interface DeliveriesDiscardManyResult {
  status: "accepted" | "dry_run";
  /** Dead letters selected. */
  count: number;
  groups: Array<{
    dlq_reason: string;
    count: number;
  }>;
  /** Whether others are left: repeat the request. */
  more: boolean;
}

export interface DeliveriesDiscardParams {
  /** Id of the delivery; or of its event, if that has one dead letter only. */
  id: string;
}

export type DeliveriesDiscardResult = undefined;

export interface DevicesIssueParams {
  /** Id of the agent. */
  agent_id: string;
  /** Scopes of the device's key, at most the caller's. Default: the caller's except `admin`. */
  scopes?: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
}

export interface DevicesIssueResult {
  /** Device code: four characters, a hyphen, four characters. Case and hyphen do not matter. */
  user_code: string;
  expires_at: string;
  server_now: string;
  verification_uri: string;
  verification_uri_complete: string;
}

export interface DevicesStatusParams {
  /** Id of the agent. */
  agent_id: string;
}

export type DevicesStatusResult = DeviceStatus;

export interface DevicesClaimParams {
  /** Device code: four characters, a hyphen, four characters. Case and hyphen do not matter. */
  user_code: string;
  /** The device as it describes itself, shown to the person who confirms it. Not verified. */
  client_info: ClientInfo;
}

export interface DevicesClaimResult {
  /** Id of the claim. */
  claim_id: string;
}

export interface DevicesConfirmParams {
  /** Id of the agent. */
  agent_id: string;
  /** Id of the claim. */
  claim_id: string;
  /** The decision. */
  action: "approve" | "reject";
}

export interface DevicesConfirmResult {
  state: "approved" | "denied";
  confirmed_at: string;
}

export interface DevicesCompleteParams {
  /** Id of the claim. */
  claim_id: string;
}

export interface DevicesCompleteResult {
  /** Id of the device session. */
  session_id: string;
  /** Id of the agent. */
  agent_id: string;
  api_key: string;
  /** A JWT (ES256), valid for one hour. */
  access_token: string;
  expires_at: string;
  server_now: string;
}

export interface DevicesLookUpParams {
  /** Device code: four characters, a hyphen, four characters. Case and hyphen do not matter. */
  code: string;
}

export interface DevicesLookUpResult {
  /** Id of the agent. */
  agent_id: string;
  /** Scopes of the device's key, at most the caller's. Default: the caller's except `admin`. */
  scopes?: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
}

export interface DocumentsUploadParams {
  /** File in standard base64. */
  file_content: string;
  /** Name of the file; versions of a document share it. */
  filename: string;
  /** Media type of the file, in any case, with or without `charset`: `application/pdf`, `application/vnd.openxmlformats-officedocument.wordprocessingml.document`, `application/vnd.openxmlformats-officedocument.presentationml.presentation`, `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, `text/html`, `text/markdown`, `text/plain`. With `DOCUMENT_CONVERTER_URL`, others that the converter reads. */
  mime_type: string;
  /** Who can read the document. `public` and `internal`: the whole tenant. `confidential` and `restricted`: the uploader and its team. Levels with the same readers differ only as a label. */
  sensitivity?: "public" | "internal" | "confidential" | "restricted";
  /** Audience, used to filter searches. An empty or omitted list means everyone. */
  audience?: {
    /** Regions. */
    regions?: Array<string>;
    /** Industries. */
    industries?: Array<string>;
    /** Product lines. */
    product_lines?: Array<string>;
    /** Customer segments. */
    segments?: Array<string>;
  };
  /** One of the caller's sources. Default: the caller's own. */
  source_id?: string;
  subject?: string | null;
}

export interface DocumentsUploadResult {
  accepted: boolean;
  /** Id of the document. */
  document_id?: string;
  status?: "queued" | "chunking" | "embedding" | "stored" | "failed" | "superseded";
  /** The source had this file already: it is not stored again. */
  existing?: boolean;
  /** Who can read the document. `public` and `internal`: the whole tenant. `confidential` and `restricted`: the uploader and its team. Levels with the same readers differ only as a label. */
  sensitivity?: "public" | "internal" | "confidential" | "restricted";
  audience?: Audience;
  subject?: string | null;
  /** Fields of the request that were not applied: an earlier upload of the same file is narrower there. */
  kept?: Array<string>;
  error_code?: string;
}

export interface DocumentsListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
  /** Only documents of this source. */
  source_id?: string;
  /** Only this status. */
  status?: "queued" | "chunking" | "embedding" | "stored" | "failed" | "superseded";
}

export interface DocumentsListResult {
  documents: Array<Document>;
  total: number;
  next_cursor: string | null;
}

export interface DocumentsGetParams {
  /** Id of the document. */
  document_id: string;
}

export type DocumentsGetResult = Document;

export interface DocumentsListChunksParams {
  /** Id of the document. */
  document_id: string;
  /** `ingestion_source_id` of the document. */
  source_id: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface DocumentsListChunksResult {
  chunks: Array<Chunk>;
  total: number;
}

export interface DocumentsDeleteParams {
  /** Id of the document. */
  document_id: string;
  /** `ingestion_source_id` of the document. */
  source_id: string;
}

export interface DocumentsDeleteResult {
  deleted: boolean;
  /** Id of the document. */
  document_id?: string;
  error_code?: string;
}

export interface DocumentsContentParams {
  /** Id of the document. */
  document_id: string;
}

export type DocumentsContentResult = string | Blob;

export interface DocumentsRetryParams {
  /** Id of the document. */
  document_id: string;
}

export type DocumentsRetryResult = Document;

export interface DocumentsSearchParams {
  /** Question or keywords. */
  query: string;
  /** Only documents for everyone, or for an entry of each non-empty list. */
  audience?: {
    /** Regions. */
    regions?: Array<string>;
    /** Industries. */
    industries?: Array<string>;
    /** Product lines. */
    product_lines?: Array<string>;
    /** Customer segments. */
    segments?: Array<string>;
  };
  /** Only documents of this source. */
  source_id?: string;
  /** Maximum number of results. */
  limit?: number;
  /** Minimum score. */
  min_score?: number;
  /** Returns the search plan too, as `plan`. */
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
  /** No passage reaches the minimum score. */
  no_match: boolean;
  degraded: boolean;
  degraded_reasons: Array<string>;
  plan?: Record<string, unknown>;
}

export interface EventsPublishParams {
  /** A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of lower-case letters and digits, their values are strings without control characters, booleans or 32-bit integers. */
  event: CloudEvent;
}

export type EventsPublishResult = PublishResult | PublishResult | Array<PublishResult | RejectedEvent>;

export interface EventsListParams {
  /** Only types that match this glob. */
  type?: string;
  /** Only this source. */
  source?: string;
  /** Only this subject. */
  subject?: string;
  /** Only this `id`, as the producer sent it. */
  id?: string;
  /** Only events accepted at this time or later. */
  since?: string;
  /** Only events that matched no agent. */
  unmatched?: boolean;
  /** Only events that wait for their `notbefore`. */
  waiting?: boolean;
  /** False: without the service's own events (`service.*`, `memory.cited`). */
  include_service?: boolean;
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface EventsListResult {
  events: Array<EventSummary>;
  next_cursor: string | null;
}

export interface EventsStreamParams {
  /** Only types that match this glob. */
  type?: string;
  /** Begin with events accepted at this time or later. */
  since?: string;
}

export type EventsStreamResult = string;

export interface EventsGetParams {
  /** Id that the service gave the event. */
  event_id: string;
}

export interface EventsGetResult {
  /** Id that the service gave the event. */
  event_id: string;
  /** `waiting`: for its `notbefore`. `parked`: fan-out failed five times; an admin can retry it. */
  state: "accepted" | "waiting" | "fanned_out" | "parked";
  accepted_at: string;
  waits_until: string | null;
  fanned_out_at: string | null;
  matched_count: number | null;
  /** Number of events with the same id from other sources. */
  duplicate_sources: number;
  publisher_id: string | null;
  /** A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of lower-case letters and digits, their values are strings without control characters, booleans or 32-bit integers. */
  payload: CloudEvent;
  park_reason: string | null;
  timeline: Array<TimelineEntry>;
  deliveries: {
    pending: number;
    acknowledged: number;
    dlq: number;
  };
  /** For admins: the first 1,000 receivers. */
  receivers?: Array<EventReceiver>;
}

export interface EventsRetryParams {
  /** Id that the service gave the event. */
  event_id: string;
}

export type EventsRetryResult = PublishResult;

export interface EventsCancelParams {
  /** Id that the service gave the event. */
  event_id: string;
}

export type EventsCancelResult = undefined;

export interface ExemplarsCreateParams {
  /** Display name. */
  display_name: string;
  /** Name of the file. */
  filename: string;
  /** Text of the exemplar. */
  content: string;
}

export type ExemplarsCreateResult = Exemplar;

export interface ExemplarsListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. Default: all. */
  limit?: number;
}

export type ExemplarsListResult = Array<Exemplar>;

export interface ExemplarsGetParams {
  /** Id of the exemplar. */
  exemplar_id: string;
}

export type ExemplarsGetResult = Exemplar;

export interface ExemplarsRenameParams {
  /** Id of the exemplar. */
  exemplar_id: string;
  /** Display name. */
  display_name: string;
}

export type ExemplarsRenameResult = Exemplar;

export interface ExemplarsDeleteParams {
  /** Id of the exemplar. */
  exemplar_id: string;
}

export type ExemplarsDeleteResult = undefined;

export interface ExemplarsDownloadParams {
  /** Id of the exemplar. */
  exemplar_id: string;
}

export type ExemplarsDownloadResult = string;

export interface ExemplarsReferrersParams {
  /** Id of the exemplar. */
  exemplar_id: string;
}

export interface ExemplarsReferrersResult {
  referrers: Array<ExemplarReferrer>;
}

export interface FindingsListParams {
  /** Maximum number of results. */
  limit?: number;
  /** Advances the agent's cursor past the returned findings. */
  mark_read?: boolean;
  /** Position to read after, instead of the agent's cursor. */
  since_seq?: number;
  /** Minimum importance. */
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

export interface FindingsBrowseParams {
  /** Only findings of this agent. */
  agent_id?: string;
  /** Only the finding of this memory. */
  memory_id?: string;
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface FindingsBrowseResult {
  findings: Array<Finding>;
  next_cursor: string | null;
}

export interface GatewayA2aParams {
  /** Id of the agent. */
  agent_id: string;
  message: unknown;
}

export type GatewayA2aResult = unknown;

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
  /** Name of the handoff, unique per agent. */
  name: string;
  /** State of the work in a few sentences. */
  summary?: string;
  /** State of the work. Other fields are kept and appear in the brief. */
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
  /** Memories that the work relies on. */
  citations?: Array<{
    /** Id of the memory. */
    memory_id: string;
  }>;
  /** URLs or names of results; stored as given. */
  artifacts?: Array<string>;
  origin_client?: string | null;
  /** Always `agent`. */
  scope?: "agent";
  bundle_id?: string | null;
  /** Save only over this `version_num`, otherwise `conflict`. 0: only if the name is unused. */
  if_version?: number;
}

export type HandoffsSaveResult = Handoff;

export interface HandoffsListParams {
  /** Search text. */
  q?: string;
  /** Maximum number of results. */
  limit?: number;
  /** Results to skip; not with `q`. */
  offset?: number;
}

export type HandoffsListResult = Array<Handoff>;

export interface HandoffsResumeParams {
  /** Name, id or free text. */
  query: string;
}

export type HandoffsResumeResult = HandoffCandidates | string;

export interface HandoffsGetParams {
  /** Id of the handoff. */
  id: string;
}

export type HandoffsGetResult = Handoff;

export interface HandoffsDeleteParams {
  /** Id of the handoff. */
  id: string;
}

export type HandoffsDeleteResult = undefined;

export interface HandoffsExportParams {
  /** Id of the handoff. */
  id: string;
}

export type HandoffsExportResult = string;

export interface HandoffsPinParams {
  /** Id of the handoff. */
  id: string;
}

export type HandoffsPinResult = Handoff;

export interface HandoffsUnpinParams {
  /** Id of the handoff. */
  id: string;
}

export type HandoffsUnpinResult = Handoff;

export interface HandoffsListOfAgentParams {
  /** Id of the agent. */
  agent_id: string;
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
}

export interface HandoffsListOfAgentResult {
  handoffs: Array<ListedHandoff>;
  next_cursor: string | null;
}

export interface HandoffsGetOfAgentParams {
  /** Id of the agent. */
  agent_id: string;
  /** Id of the handoff. */
  id: string;
}

export type HandoffsGetOfAgentResult = HandoffForPeople;

export interface IngestCreateWebhookParams {
  /** Display name. */
  name: string;
  /** Name of the sender: the second part of the event type, and the end of the webhook's URL. */
  source: string;
  mapping: Mapping | "cloudevents" | "github" | "gitlab" | "slack" | "stripe" | "shopify" | "twilio" | "linear" | "sentry" | "standard_webhooks";
  /** Signing secret, for senders that generate it themselves: 16 to 256 printable ASCII characters. Surrounding spaces and quotes, and a version before `whsec_`, are removed. Default: a new one. */
  signing_secret?: string;
}

export interface IngestCreateWebhookResult {
  /** Id of the webhook. */
  id: string;
  /** Display name. */
  name: string;
  /** Name of the sender: the second part of the event type, and the end of the webhook's URL. */
  source: string;
  mapping: Mapping | "cloudevents" | "github" | "gitlab" | "slack" | "stripe" | "shopify" | "twilio" | "linear" | "sentry" | "standard_webhooks";
  url: string;
  last_request: WebhookRequest | null;
  created_at: string;
  updated_at: string;
  /** Secret that signs the webhook's requests. Shown only once. */
  signing_secret: string;
}

export interface IngestListWebhooksParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface IngestListWebhooksResult {
  webhooks: Array<Webhook>;
  total: number;
}

export interface IngestUpdateWebhookParams {
  /** Id of the webhook. */
  webhook_id: string;
  /** Display name. */
  name?: string;
  mapping?: Mapping | "cloudevents" | "github" | "gitlab" | "slack" | "stripe" | "shopify" | "twilio" | "linear" | "sentry" | "standard_webhooks";
}

export type IngestUpdateWebhookResult = Webhook;

export interface IngestDeleteWebhookParams {
  /** Id of the webhook. */
  webhook_id: string;
}

export type IngestDeleteWebhookResult = undefined;

export interface IngestRotateWebhookParams {
  /** Id of the webhook. */
  webhook_id: string;
  /** Signing secret, for senders that generate it themselves: 16 to 256 printable ASCII characters. Surrounding spaces and quotes, and a version before `whsec_`, are removed. Default: a new one. */
  signing_secret?: string;
}

export interface IngestRotateWebhookResult {
  /** Secret that signs the webhook's requests. Shown only once. */
  signing_secret: string;
  previous_ends_at: string;
}

export interface IngestTestMappingParams {
  /** Name of the sender: the second part of the event type, and the end of the webhook's URL. */
  source: string;
  mapping: Mapping | "cloudevents" | "github" | "gitlab" | "slack" | "stripe" | "shopify" | "twilio" | "linear" | "sentry" | "standard_webhooks";
  /** Body that the sender would send: JSON, or the text of a form if the header `Content-Type` names one. */
  payload?: unknown;
  /** Headers that the sender would send. */
  headers?: Record<string, string>;
}

export interface IngestTestMappingResult {
  event: CloudEvent | null;
  error: string | null;
}

export interface IngestTestWebhookParams {
  /** Id of the webhook. */
  webhook_id: string;
  /** Body that the sender would send: JSON, or the text of a form if the header `Content-Type` names one. */
  payload?: unknown;
  /** Headers that the sender would send. */
  headers?: Record<string, string>;
  mapping?: Mapping | "cloudevents" | "github" | "gitlab" | "slack" | "stripe" | "shopify" | "twilio" | "linear" | "sentry" | "standard_webhooks";
  /** Instead of a payload: one of the webhook's last requests, which was accepted, duplicate or dead-lettered. */
  request_id?: string;
}

export interface IngestTestWebhookResult {
  event: CloudEvent | null;
  error: string | null;
}

export interface IngestListRequestsParams {
  /** Id of the webhook. */
  webhook_id: string;
}

export interface IngestListRequestsResult {
  requests: Array<WebhookRequest>;
}

export interface IngestReceiveParams {
  /** Slug of the tenant. */
  tenant_slug: string;
  /** Body in base64. */
  raw: string;
  /** Headers of the request. */
  headers: Record<string, string>;
  /** Path and query of the request, as received. */
  target?: string;
}

export type IngestReceiveResult = WebhookChallenge | WebhookResult | WebhookBatchResult | undefined;

export interface IngestReceiveFromParams {
  /** Slug of the tenant. */
  tenant_slug: string;
  /** `source` of the webhook. */
  source: string;
  /** Body in base64. */
  raw: string;
  /** Headers of the request. */
  headers: Record<string, string>;
  /** Path and query of the request, as received. */
  target?: string;
}

export type IngestReceiveFromResult = WebhookChallenge | WebhookResult | WebhookBatchResult | undefined;

export interface IngestValidateParams {
  /** Slug of the tenant. */
  tenant_slug: string;
  /** Body in base64. */
  raw: string;
  /** Headers of the request. */
  headers: Record<string, string>;
  /** Path and query of the request, as received. */
  target?: string;
}

export interface IngestValidateResult {
  allowed_origin: string | null;
  allowed_rate: string | null;
}

export interface IngestValidateForParams {
  /** Slug of the tenant. */
  tenant_slug: string;
  /** `source` of the webhook. */
  source: string;
  /** Body in base64. */
  raw: string;
  /** Headers of the request. */
  headers: Record<string, string>;
  /** Path and query of the request, as received. */
  target?: string;
}

export interface IngestValidateForResult {
  allowed_origin: string | null;
  allowed_rate: string | null;
}

export interface InterestsCreateParams {
  /** Id of the agent. */
  agent_id: string;
  /** Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type: string;
  filter_expression?: string | null;
  /** Delivery priority; 9 is delivered first. */
  priority?: number;
  /** Adds the receiver's best memories about the event as `payload.enrichment.memories`: `shallow` three with title and score, `deep` ten with content. If the search fails or is late, `payload.enrichment.degraded` is true. */
  enrichment_depth?: "none" | "shallow" | "deep";
}

export type InterestsCreateResult = Interest;

export interface InterestsListParams {
  /** Id of the agent. */
  agent_id: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface InterestsListResult {
  interests: Array<Interest>;
  total: number;
}

export interface InterestsGetParams {
  /** Id of the agent. */
  agent_id: string;
  /** Id of the interest. */
  id: string;
}

export type InterestsGetResult = Interest;

export interface InterestsUpdateParams {
  /** Id of the agent. */
  agent_id: string;
  /** Id of the interest. */
  id: string;
  /** Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type?: string;
  filter_expression?: string | null;
  /** Delivery priority; 9 is delivered first. */
  priority?: number;
  /** Adds the receiver's best memories about the event as `payload.enrichment.memories`: `shallow` three with title and score, `deep` ten with content. If the search fails or is late, `payload.enrichment.degraded` is true. */
  enrichment_depth?: "none" | "shallow" | "deep";
}

export type InterestsUpdateResult = Interest;

export interface InterestsDeleteParams {
  /** Id of the agent. */
  agent_id: string;
  /** Id of the interest. */
  id: string;
}

export type InterestsDeleteResult = undefined;

export interface InterestsTestParams {
  /** Id of the agent. */
  agent_id: string;
  /** Whether to test on the service's own events too (`service.*`, `memory.cited`). Default: only if the type begins with `service.` or `memory.`, because other globs never match them. */
  include_service?: boolean;
  /** Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type: string;
  filter_expression?: string | null;
  /** Delivery priority; 9 is delivered first. */
  priority?: number;
  /** Adds the receiver's best memories about the event as `payload.enrichment.memories`: `shallow` three with title and score, `deep` ten with content. If the search fails or is late, `payload.enrichment.degraded` is true. */
  enrichment_depth?: "none" | "shallow" | "deep";
}

export interface InterestsTestResult {
  tested: number;
  matched: number;
  /** Names that the filter reads and none of the tested events of this type has. */
  hints: Array<string>;
  /** Newest first. */
  results: Array<{
    /** Id of the event. */
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
  /** Id of the agent. */
  agent_id: string;
  name?: string | null;
  /** Scopes of the key. `admin` includes all others. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  expires_at?: string | null;
}

export interface KeysCreateResult {
  /** Id of the API key. */
  id: string;
  name: string | null;
  /** The first characters of the key. */
  prefix: string;
  /** Scopes of the key. `admin` includes all others. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  /** `ended`: the key of a connection whose approval has ended, because the person was disabled, lost the role or the agent, or the agent was deactivated. Connect it again. */
  state: "active" | "ended";
  created_by: string | null;
  approved_by: string | null;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
  /** The key itself. */
  key: string;
}

export interface KeysListParams {
  /** Id of the agent. */
  agent_id: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface KeysListResult {
  keys: Array<{
    /** Id of the API key. */
    id: string;
    name: string | null;
    /** The first characters of the key. */
    prefix: string;
    /** Scopes of the key. `admin` includes all others. */
    scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
    /** `ended`: the key of a connection whose approval has ended, because the person was disabled, lost the role or the agent, or the agent was deactivated. Connect it again. */
    state: "active" | "ended";
    created_by: string | null;
    approved_by: string | null;
    expires_at: string | null;
    last_used_at: string | null;
    created_at: string;
  }>;
  total: number;
}

export interface KeysRevokeParams {
  /** Id of the agent. */
  agent_id: string;
  /** Id of the API key. */
  key_id: string;
}

export type KeysRevokeResult = undefined;

export type LiveStatsParams = Record<never, never>;

export type LiveStatsResult = Stats;

export interface LiveHistoryParams {
  /** The time up to now. */
  range?: "15m" | "1h" | "24h" | "7d";
  /** Counts only deliveries to this agent and events that it published. */
  agent_id?: string;
  /** Counts only events of exactly this type. */
  type?: string;
}

export type LiveHistoryResult = TrafficHistory;

export type LiveWatchParams = Record<never, never>;

export type LiveWatchResult = string;

export interface MemoriesEraseParams {
  /** Erase all memories, state, A2A tasks, schedules, bundles and handoffs of this agent. */
  agent_id?: string;
  /** Erase these memories. */
  ids?: Array<string>;
  /** Erase memories and state whose `metadata.subject` is or contains this, memories whose source event or document has it, and A2A tasks and schedules with a field `subject` that is or contains it. Numbers are compared as text. */
  subject?: string;
  /** Only count; erase nothing. */
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
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
  /** Only memories of this type. */
  type?: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  /** Only memories of this scope. Default: all readable. */
  scope?: "agent" | "team" | "institutional";
  /** Part of the title or the content; case is ignored. Searches the latest 100,000 memories per owner, per team and of the institution. */
  search?: string;
  /** Key of a project; empty: only memories without one. */
  project_id?: string;
  /** Only with any of these tags; repeated or comma-separated. */
  tags?: Array<string>;
  /** Only memories with a key in this namespace or below it. */
  namespace?: string;
  /** Only this `source_type`. */
  source_type?: string;
  /** Only memories without citations. */
  never_cited?: boolean;
  /** Include superseded memories. */
  include_superseded?: boolean;
  /** Field to sort by. */
  sort?: "created_at" | "title" | "confidence" | "importance";
  /** Sort order. */
  order?: "asc" | "desc";
}

export interface MemoriesListResult {
  memories: Array<Memory>;
  total: number;
  next_cursor: string | null;
}

export interface MemoriesCreateParams {
  /** Short summary. */
  title: string;
  /** Text of the memory. */
  content: string;
  /** Kind of knowledge. */
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  /** Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). It can only be widened. */
  scope: "agent" | "team" | "institutional";
  team_id?: string | null;
  project_id?: string | null;
  tags?: Array<string> | null;
  /** How certain it is, from 0 to 1. */
  confidence?: number;
  /** How much it matters, from 0 to 1. */
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
  /** Memories to create, 1 to 500. */
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
  /** Id of the memory. */
  id: string;
}

export type MemoriesGetResult = MemoryWithUsage;

export interface MemoriesUpdateParams {
  /** Id of the memory. */
  id: string;
  /** Short summary. */
  title?: string;
  /** Text of the memory. */
  content?: string;
  /** How certain it is, from 0 to 1. */
  confidence?: number;
  /** How much it matters, from 0 to 1. */
  importance?: number;
  metadata?: Record<string, unknown> | null;
  expires_at?: string | null;
  freshness_date?: string | null;
  project_id?: string | null;
  tags?: Array<string> | null;
}

export type MemoriesUpdateResult = Memory;

export interface MemoriesPutByKeyParams {
  /** Namespace of the memory: labels joined by dots. */
  namespace: string;
  /** Key, unique in the namespace of the agent. */
  key: string;
  /** Short summary. Default: the key. */
  title?: string;
  /** Text of the memory. Default: `metadata` as JSON. */
  content?: string;
  /** Kind of knowledge. Default: `semantic`. */
  type?: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  /** Who can read it. Default: `agent`. It stays when the memory is replaced. */
  scope?: "agent" | "team" | "institutional";
  team_id?: string | null;
  project_id?: string | null;
  tags?: Array<string> | null;
  /** How certain it is, from 0 to 1. */
  confidence?: number;
  /** How much it matters, from 0 to 1. */
  importance?: number;
  metadata?: Record<string, unknown> | null;
  source_type?: string | null;
  source_id?: string | null;
  source_url?: string | null;
  source_event_id?: string | null;
  freshness_date?: string | null;
  expires_at?: string | null;
}

export type MemoriesPutByKeyResult = Memory;

export interface MemoriesGetByKeyParams {
  /** Namespace of the memory: labels joined by dots. */
  namespace: string;
  /** Key, unique in the namespace of the agent. */
  key: string;
}

export type MemoriesGetByKeyResult = Memory;

export interface MemoriesDeleteByKeyParams {
  /** Namespace of the memory: labels joined by dots. */
  namespace: string;
  /** Key, unique in the namespace of the agent. */
  key: string;
}

export interface MemoriesDeleteByKeyResult {
  /** Id of the memory. */
  memory_id: string;
  forgotten: boolean;
  invalid_at: string;
}

export interface MemoriesNamespacesParams {
  /** Only this namespace and those below it. */
  prefix?: string;
  /** Most labels of a namespace: deeper ones are cut off to these, and listed once. */
  max_depth?: number;
  /** The last namespace of the previous page. */
  after?: string;
  /** Maximum number. */
  limit?: number;
}

export interface MemoriesNamespacesResult {
  namespaces: Array<string>;
  next: string | null;
}

export interface MemoriesPromoteParams {
  /** Id of the memory. */
  id: string;
  /** Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). It can only be widened. */
  scope: "agent" | "team" | "institutional";
  team_id?: string | null;
}

export type MemoriesPromoteResult = Memory;

export interface MemoriesForgetParams {
  /** Id of the memory. */
  id: string;
}

export interface MemoriesForgetResult {
  /** Id of the memory. */
  memory_id: string;
  forgotten: boolean;
  invalid_at: string;
}

export interface MemoriesRestoreParams {
  /** Id of the memory. */
  id: string;
}

export type MemoriesRestoreResult = Memory;

export interface MemoriesSupersedeParams {
  /** Id of the memory. */
  id: string;
  /** The successor. */
  superseded_by_id: string;
}

export interface MemoriesSupersedeResult {
  /** Id of the memory. */
  memory_id: string;
  /** Id of the memory. */
  superseded_by: string;
  invalid_at: string;
}

export interface MemoriesLineageParams {
  /** Id of the memory. */
  id: string;
}

export interface MemoriesLineageResult {
  /** Id of the memory. */
  memory_id: string;
  /** Memories merged into it, directly or indirectly, nearest first. */
  merge_lineage: Array<{
    /** Id of the memory. */
    loser_memory_id: string;
    /** Id of the memory. */
    winner_memory_id: string;
    /** The origin of the merge. */
    origin: string;
  }>;
  /** The memory was superseded or merged into another. */
  superseded: boolean;
  supersedes_target: string | null;
}

export interface MemoriesSearchParams {
  /** With `explain`: a memory for which the plan says where it was dropped, and why. */
  expect?: string;
  /** Question or keywords. */
  query: string;
  /** Only memories of this scope. Default: all readable. */
  scope?: "agent" | "team" | "institutional";
  /** Only these types. */
  memory_types?: Array<"episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning">;
  /** Maximum number of results. */
  limit?: number;
  /** Minimum score. */
  min_score?: number;
  project_id?: string | null;
  /** Only memories with any of these tags. */
  tags?: Array<string>;
  /** Only memories with a key in this namespace or below it. */
  namespace?: string;
  /** Include superseded memories. */
  include_superseded?: boolean;
  /** Returns the search plan too, as `plan`. */
  explain?: boolean;
}

export interface MemoriesSearchResult {
  results: Array<{
    memory: Memory;
    /** Relevance. */
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
  /** Id of this search, to pass when citing a result. */
  originating_query_id: string;
  /** No memory matches well enough. */
  no_match: boolean;
  /** A leg of the search failed. */
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
      /** Id of the memory. */
      memory_id: string;
      title: string | null;
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
      /** Id of the memory. */
      id: string;
      found: boolean;
      stage: string;
      reason: string;
    };
  };
}

export interface MemoriesCiteParams {
  /** Id of the memory. */
  id: string;
  originating_query_id?: string | null;
}

export type MemoriesCiteResult = undefined;

export interface MemoriesCitationsParams {
  /** Id of the memory. */
  id: string;
}

export interface MemoriesCitationsResult {
  citations: Array<Citation>;
  total: number;
}

export interface MemoriesActivityParams {
  /** Id of the agent. */
  agent_id: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface MemoriesActivityResult {
  /** Id of the agent. */
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
  /** One of the memories. */
  memory_a_id: string;
  /** The other memory. */
  memory_b_id: string;
  resolution_note?: string | null;
}

export type MergesProposeResult = MergeProposal;

export interface MergesListParams {
  /** Status of the proposal. */
  status?: "open" | "resolved" | "rejected";
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface MergesListResult {
  merge_proposals: Array<MergeProposal>;
  /** Except for org admins: among the tenant's latest 10,000. */
  total: number;
}

export interface MergesGetParams {
  /** Id of the merge proposal. */
  id: string;
}

export type MergesGetResult = MergeProposal;

export interface MergesResolveParams {
  /** Id of the merge proposal. */
  id: string;
  /** Memory to keep: `memory_a_id` or `memory_b_id`. */
  surviving_memory_id: string;
  resolution_note?: string | null;
  merged_content?: string | null;
}

export type MergesResolveResult = MergeProposal;

export interface MergesRejectParams {
  /** Id of the merge proposal. */
  id: string;
  resolution_note?: string | null;
}

export type MergesRejectResult = MergeProposal;

export interface OauthReadRequestParams {
  /** The query of the authorization request as the client sent it, or `user_code=` and a device's code. */
  query: string;
}

export type OauthReadRequestResult = AuthorizationRequest;

export interface OauthDecideParams {
  /** The query of the authorization request as the client sent it, or `user_code=` and a device's code. */
  query: string;
  /** The decision. */
  decision: "approve" | "deny";
  /** The agent that the client acts as. Required to approve. */
  agent_id?: string;
  /** Granted scopes. Default: all that were requested. */
  scopes?: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
}

export interface OauthDecideResult {
  redirect_uri: string | null;
}

export type OnboardingGetParams = Record<never, never>;

export type OnboardingGetResult = OnboardingGuidance;

export type OnboardingDismissParams = Record<never, never>;

export type OnboardingDismissResult = OnboardingGuidance;

export interface OutputsExportParams {
  /** Id or slug of the output. */
  output_id: string;
  /** File format. */
  format?: "md" | "html" | "pdf" | "docx";
}

export type OutputsExportResult = string | Blob;

export interface OutputsEmailParams {
  /** Id or slug of the output. */
  output_id: string;
  /** E-mail address of the recipient. */
  to: string;
  /** Subject of the e-mail. Default: the output's title. */
  subject?: string;
  /** Format of the attachment. */
  attach_format?: "md" | "html" | "pdf" | "docx";
}

export interface OutputsEmailResult {
  status: "sent";
  to: string;
}

export interface OutputsSaveParams {
  /** Title. Default: the first heading or line of the text. */
  title?: string;
  /** Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). Set by the first save; default `agent`. */
  scope?: "agent" | "team" | "institutional";
  team_id?: string | null;
  project_id?: string | null;
  source_type?: string | null;
  /** Output to save a new version of. Default: a new output. */
  output_id?: string;
  /** What this version changes. */
  change_note?: string;
  process_run_id?: string | null;
  /** Outputs that it was derived from. Ids or slugs; unreadable ones are ignored. */
  derived_from_ids?: Array<string>;
  /** Outputs that it refers to. Ids or slugs; unreadable ones are ignored. */
  references_ids?: Array<string>;
  /** Outputs that it supersedes. Ids or slugs; unreadable ones are ignored. */
  supersedes_ids?: Array<string>;
  /** Text in Markdown. */
  body: string;
  /** Free-form data of the caller. */
  metadata?: Record<string, unknown>;
}

export type OutputsSaveResult = Output;

export interface OutputsListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
  /** Only outputs of this scope. */
  scope?: "agent" | "team" | "institutional";
  /** Key of a project; empty: only outputs without one. */
  project_id?: string;
  /** Only outputs of this run. */
  process_run_id?: string;
  /** Only with any of these tags; repeated or comma-separated. */
  tags?: Array<string>;
  /** `created_at` (default) or `title`. */
  sort?: string;
  /** `asc` or `desc`. Default: newest first, or titles from A. */
  order?: string;
}

export interface OutputsListResult {
  outputs: Array<Output>;
  total: number;
  next_cursor: string | null;
}

export interface OutputsGetParams {
  /** Id or slug of the output. */
  output_id: string;
  /** Version number. Default: the current one. */
  version?: number;
}

export type OutputsGetResult = Output;

export interface OutputsUpdateParams {
  /** Id or slug of the output. */
  output_id: string;
  project_id?: string | null;
  /** Tags. Stored in lower case, with each run of white space, `_` and `-` as one `-`. */
  tags?: Array<string>;
}

export interface OutputsUpdateResult {
  /** Id of the output. */
  id: string;
  project_id: string | null;
  tags: Array<string>;
}

export interface OutputsDeleteParams {
  /** Id or slug of the output. */
  output_id: string;
}

export type OutputsDeleteResult = undefined;

export interface OutputsListVersionsParams {
  /** Id or slug of the output. */
  output_id: string;
}

export interface OutputsListVersionsResult {
  versions: Array<OutputVersion>;
}

export interface OutputsGetVersionParams {
  /** Id or slug of the output. */
  output_id: string;
  /** Number or id of the version. */
  version_num: string;
}

export type OutputsGetVersionResult = OutputVersion;

export interface OutputsSearchParams {
  /** Question or keywords. */
  query: string;
  /** Only outputs of this scope. */
  scope?: "agent" | "team" | "institutional";
  /** Minimum score. */
  min_score?: number;
  /** Maximum number of results. */
  limit?: number;
  /** Only outputs of the project with this key. */
  project_id?: string;
  /** Include superseded outputs. */
  include_superseded?: boolean;
  /** Include outputs of archived projects. */
  include_archived?: boolean;
}

export interface OutputsSearchResult {
  results: Array<{
    kind: "output";
    output: Output;
    /** Relevance, from 0 to 1. */
    score: number;
    /** The passage that matches best. */
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
  /** Status of the project. */
  status?: "active" | "completed" | "archived";
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface ProjectsListResult {
  projects: Array<Project>;
  total: number;
}

export interface ProjectsCreateParams {
  /** Key of the project, passed to other operations as `project_id`. Letters, digits, `.`, `_` and `-`; not a UUID. Immutable. */
  key: string;
  /** Display name. */
  name?: string;
  /** Status of the project. */
  status?: "active" | "completed" | "archived";
  target_date?: string | null;
}

export type ProjectsCreateResult = Project;

export interface ProjectsUpdateParams {
  /** Key of the project, passed to other operations as `project_id`. Letters, digits, `.`, `_` and `-`; not a UUID. Immutable. */
  key: string;
  /** Display name. */
  name?: string;
  /** Status of the project. */
  status?: "active" | "completed" | "archived";
  target_date?: string | null;
}

export type ProjectsUpdateResult = Project;

export interface RelationshipsCreateParams {
  /** Id of the memory. */
  id: string;
  /** Memory that the relationship points to. */
  target_memory_id: string;
  /** One of the types listed by `GET /relationship-types`. New types may be added. */
  relationship_type: string;
  /** Strength; 1 is strongest. */
  strength?: number;
  metadata?: Record<string, unknown> | null;
}

export type RelationshipsCreateResult = Relationship;

export interface RelationshipsListParams {
  /** Id of the memory. */
  id: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface RelationshipsListResult {
  relationships: Array<Relationship>;
  /** Number of results. */
  count: number;
}

export interface RelationshipsDeleteParams {
  /** Id of the memory. */
  id: string;
  /** Id of the relationship. */
  rel_id: string;
}

export type RelationshipsDeleteResult = undefined;

export interface RelationshipsGraphParams {
  /** Id of the memory. */
  id: string;
  /** Number of hops. */
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
  /** Id of the run. */
  run_id: string;
  /** Kind of artifact, as the run's steps expect it. */
  kind: string;
  /** Where the content is. Never followed. */
  pointer: GivenPointer;
  step_record_id?: string | null;
  mime_type?: string | null;
}

export type RunsRegisterArtifactResult = RunArtifact;

export interface RunsListArtifactsParams {
  /** Id of the run. */
  run_id: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface RunsListArtifactsResult {
  artifacts: Array<RunArtifact>;
  total: number;
}

export interface RunsAttachExemplarParams {
  /** Id of the run. */
  run_id: string;
  /** Id of the exemplar. */
  exemplar_id: string;
}

export interface RunsAttachExemplarResult {
  /** Id of the run. */
  run_id: string;
  exemplar_ids: Array<string>;
}

export interface RunsOfferHandoffParams {
  /** Id of the run. */
  run_id: string;
  /** Key of the step. */
  step_key: string;
  handoff_id?: string | null;
  note?: string | null;
}

export type RunsOfferHandoffResult = HandoffOffer;

export interface RunsListOffersParams {
  /** Id of the run. */
  run_id: string;
}

export interface RunsListOffersResult {
  offers: Array<HandoffOffer>;
  total: number;
}

export interface RunsAcceptOfferParams {
  /** Id of the run. */
  run_id: string;
  /** Id of the handoff offer. */
  offer_id: string;
}

export interface RunsAcceptOfferResult {
  offer: HandoffOffer;
  completed_step: RunStep;
  attempt: StepAttempt | null;
  run_completed: boolean;
}

export interface RunsDeclineOfferParams {
  /** Id of the run. */
  run_id: string;
  /** Id of the handoff offer. */
  offer_id: string;
  note?: string | null;
}

export type RunsDeclineOfferResult = HandoffOffer;

export interface RunsCreateParams {
  /** What the run must achieve. */
  goal: string;
  project_id?: string | null;
  /** Conditions under which the goal is achieved. */
  success_criteria?: Array<string>;
  ambiguity_score?: number | null;
  /** What is unclear about the goal. */
  ambiguity_notes?: Array<{
    /** Aspect. */
    dimension: string;
    score?: number | null;
    min?: number | null;
    status?: string | null;
    note?: string | null;
  }>;
  /** Steps; not with `template_id`. */
  steps?: Array<GivenRunStep>;
  template_id?: string | null;
  /** People for the template's steps; only with `template_id`. */
  step_assignments?: Array<{
    /** Key of the step. */
    step_key: string;
    /** Id of the user. */
    assigned_user_id: string;
  }>;
}

export type RunsCreateResult = Run;

export interface RunsListParams {
  /** Only this status. */
  status?: "active" | "completed" | "closed";
  /** Key of a project; empty: only runs without one. */
  project_id?: string;
  /** Only runs of this process template, in any of its versions. */
  template_slug?: string;
  /** Part of the goal; case is ignored. */
  search?: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. Default: all. */
  limit?: number;
}

export type RunsListResult = Array<Run>;

export interface RunsGetParams {
  /** Id of the run. */
  run_id: string;
}

export type RunsGetResult = RunWithAttempts;

export interface RunsPositionParams {
  /** Id of the run. */
  run_id: string;
}

export type RunsPositionResult = Position;

export interface RunsCloseParams {
  /** Id of the run. */
  run_id: string;
  /** Result of the run. */
  outcome: "achieved" | "partially_achieved" | "abandoned";
  note?: string | null;
}

export type RunsCloseResult = Run;

export interface RunsRetrospectiveParams {
  /** Id of the run. */
  run_id: string;
}

export interface RunsRetrospectiveResult {
  items: Array<{
    /** Key of the step. */
    step_key: string;
    title: string;
    role: string | null;
    /** `ready`: all of its dependencies are completed or skipped. `blocked`: some are not. */
    status: "blocked" | "ready" | "in_progress" | "completed" | "skipped";
    what_makes_this_done: string | null;
    elapsed_seconds: number | null;
    active_seconds: number | null;
  }>;
}

export interface RunsHistoryParams {
  /** Id of the run. */
  run_id: string;
}

export interface RunsHistoryResult {
  items: Array<{
    /** Key of the step. */
    step_key: string;
    title: string;
    role: string | null;
    ordinal: number;
    actor_kind: "agent" | "user";
    actor_id: string;
    at: string;
    handoff_offer_id: string | null;
    /** Keys of the criteria that this completion, and attestations before it, attested. */
    attested_criteria: Array<string>;
    reopened_at: string | null;
    artifacts: Array<{
      display_name: string | null;
    }>;
  }>;
}

export interface RunsStatusDocumentParams {
  /** Id of the run. */
  run_id: string;
}

export type RunsStatusDocumentResult = string;

export interface RunsStartStepParams {
  /** Id of the run. */
  run_id: string;
  /** Key of the step. */
  step_key: string;
  handoff_id?: string | null;
  bundle_id?: string | null;
  notes?: string | null;
}

export type RunsStartStepResult = StepAttempt;

export interface RunsCompleteStepParams {
  /** Id of the run. */
  run_id: string;
  /** Key of the step. */
  step_key: string;
  criterion_key?: string | null;
  what_makes_this_done?: string | null;
  /** Content of registered artifacts, to be stored as evidence. */
  artifact_contents?: Array<{
    /** Id of the artifact. */
    artifact_id: string;
    /** Content in base64. */
    content_base64: string;
    /** Media type of the content. */
    mime_type: string;
  }>;
}

export interface RunsCompleteStepResult {
  /** Id of the run. */
  run_id: string;
  completed_step_key: string | null;
  completed_step: RunStep;
  /** Keys of the criteria that this call attested: without a `criterion_key`, all that were left. */
  attested_criteria: Array<string>;
  newly_ready_steps: Array<PositionStep>;
  run_completed: boolean;
}

export interface RunsSkipStepParams {
  /** Id of the run. */
  run_id: string;
  /** Key of the step. */
  step_key: string;
  /** Reason, shown in the run. */
  reason: string;
}

export interface RunsSkipStepResult {
  /** Id of the run. */
  run_id: string;
  run_goal: string;
  /** Reason, shown in the run. */
  reason: string;
  /** Id of the record. */
  record_id: string;
  skipped_step: RunStep;
  newly_ready_steps: Array<PositionStep>;
  run_completed: boolean;
}

export interface RunsReopenStepParams {
  /** Id of the run. */
  run_id: string;
  /** Key of the step. */
  step_key: string;
  /** Reason, shown in the run. */
  reason: string;
}

export interface RunsReopenStepResult {
  /** Id of the run. */
  run_id: string;
  run_goal: string;
  /** Reason, shown in the run. */
  reason: string;
  /** Id of the record. */
  record_id: string;
  reopened_step: RunStep;
  demoted_successors: Array<PositionStep>;
  notify_only_successors: Array<PositionStep>;
  run_reactivated: boolean;
}

export interface RunsAssignStepParams {
  /** Id of the run. */
  run_id: string;
  /** Key of the step. */
  step_key: string;
  assigned_user_id: string | null;
}

export interface RunsAssignStepResult {
  /** Id of the run. */
  run_id: string;
  run_goal: string;
  assigned_step: RunStep;
}

export interface SchedulesCreateParams {
  /** Display name. */
  name: string;
  /** The CloudEvent to publish, without `id` and `time`: each tick gives them. Other names are extension attributes. */
  event: ScheduledEvent;
  cron?: string | null;
  /** IANA time zone of `cron`. A local time that daylight saving skips is due when the clocks change; one that it repeats is due once, or every time if the hour is a range. */
  time_zone?: string;
  at?: string | null;
  /** How missed ticks are handled: those that could not be published within a minute, such as when the service was down or the owner inactive. `run_once`: the latest is published late. `run_all`: the latest 100 are. `skip`: none is. */
  on_missed?: "skip" | "run_once" | "run_all";
  /** While true, nothing is published, and no tick is missed. */
  paused?: boolean;
}

export type SchedulesCreateResult = Schedule;

export interface SchedulesListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
  /** Part of the name; case is ignored. */
  search?: string;
  /** Only those of this agent or user. */
  owner_id?: string;
  /** Only those with this status. */
  status?: "active" | "paused" | "ended";
}

export interface SchedulesListResult {
  schedules: Array<Schedule>;
  total: number;
}

export interface SchedulesGetParams {
  /** Id of the schedule. */
  schedule_id: string;
}

export type SchedulesGetResult = Schedule;

export interface SchedulesUpdateParams {
  /** Id of the schedule. */
  schedule_id: string;
  /** Display name. */
  name?: string;
  /** The CloudEvent to publish, without `id` and `time`: each tick gives them. Other names are extension attributes. */
  event?: ScheduledEvent;
  cron?: string | null;
  /** IANA time zone of `cron`. A local time that daylight saving skips is due when the clocks change; one that it repeats is due once, or every time if the hour is a range. */
  time_zone?: string;
  at?: string | null;
  /** How missed ticks are handled: those that could not be published within a minute, such as when the service was down or the owner inactive. `run_once`: the latest is published late. `run_all`: the latest 100 are. `skip`: none is. */
  on_missed?: "skip" | "run_once" | "run_all";
  /** While true, nothing is published, and no tick is missed. */
  paused?: boolean;
}

export type SchedulesUpdateResult = Schedule;

export interface SchedulesDeleteParams {
  /** Id of the schedule. */
  schedule_id: string;
}

export type SchedulesDeleteResult = undefined;

export interface SchedulesRunParams {
  /** Id of the schedule. */
  schedule_id: string;
}

export type SchedulesRunResult = PublishResult;

export interface SchedulesTestParams {
  cron?: string | null;
  /** IANA time zone of `cron`. A local time that daylight saving skips is due when the clocks change; one that it repeats is due once, or every time if the hour is a range. */
  time_zone?: string;
  at?: string | null;
}

export interface SchedulesTestResult {
  next: Array<string>;
}

export interface SessionsListParams {
  /** Id of the agent. */
  agent_id: string;
  /** Maximum number of results. */
  limit?: number;
}

export interface SessionsListResult {
  sessions: Array<Session>;
}

export interface SessionsDeleteParams {
  /** Id of the agent. */
  agent_id: string;
  /** Id of the device session. */
  session_id: string;
}

export type SessionsDeleteResult = undefined;

export interface SessionsHeartbeatParams {
  /** Id of the device session. */
  session_id: string;
}

export interface SessionsHeartbeatResult {
  last_seen_at: string;
  next_allowed_at: string;
  server_now: string;
}

export interface SpecialistsWriteParams {
  /** Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`. */
  name: string;
  /** Instructions for the agent that loads it. */
  system_prompt: string;
  memory_search_directives?: string | null;
  output_format_rules?: string | null;
  description?: string | null;
}

export type SpecialistsWriteResult = Specialist;

export type SpecialistsListParams = Record<never, never>;

export interface SpecialistsListResult {
  specialists: Array<{
    /** Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`. */
    name: string;
    version_num: number;
    description: string | null;
    updated_at: string;
    /** The caller has loaded it and not unloaded it. */
    loaded: boolean;
  }>;
}

export interface SpecialistsLoadParams {
  /** Name of the specialist. */
  name: string;
}

export type SpecialistsLoadResult = Specialist | SpecialistNotLoaded;

export interface SpecialistsUnloadParams {
  /** Name of the specialist. */
  name: string;
}

export interface SpecialistsUnloadResult {
  unloaded: boolean;
  /** Name of the specialist. */
  name: string;
}

export interface SpecialistsVersionsParams {
  /** Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`. */
  name: string;
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface SpecialistsVersionsResult {
  versions: Array<{
    /** Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`. */
    name: string;
    version_num: number;
    /** Instructions for the agent that loads it. */
    system_prompt: string;
    memory_search_directives: string | null;
    output_format_rules: string | null;
    description: string | null;
    created_at: string;
  }>;
  total: number;
}

export interface StatePutParams {
  /** Namespace of the entry: labels joined by dots. */
  namespace: string;
  /** Key, unique in the namespace of the agent. */
  key: string;
  /** The value: a text, such as JSON. */
  value: string;
  /** Any fields, at most 64 KB as JSON. `subject` names the person it is about, for erasure. */
  metadata?: Record<string, unknown>;
  expires_at?: string | null;
  /** Save only if the entry has this version; 0: only if it does not exist. Otherwise 409. */
  if_version?: number;
}

export type StatePutResult = StateEntry;

export interface StatePutManyParams {
  /** Namespace of the entry: labels joined by dots. */
  namespace: string;
  /** Entries with different keys. */
  entries: Array<{
    /** Key of the entry. */
    key: string;
    /** The value: a text, such as JSON. */
    value: string;
    /** Any fields, at most 64 KB as JSON. `subject` names the person it is about, for erasure. */
    metadata?: Record<string, unknown>;
    expires_at?: string | null;
  }>;
}

export interface StatePutManyResult {
  /** Number of entries. */
  saved: number;
}

export interface StateGetParams {
  /** Namespace of the entry: labels joined by dots. */
  namespace: string;
  /** Key, unique in the namespace of the agent. */
  key: string;
}

export type StateGetResult = StateEntry;

export interface StateDeleteParams {
  /** Namespace of the entry: labels joined by dots. */
  namespace: string;
  /** Key, unique in the namespace of the agent. */
  key: string;
}

export type StateDeleteResult = undefined;

export interface StateListParams {
  /** Namespace of the entry: labels joined by dots. */
  namespace: string;
  /** Only keys that begin so. */
  prefix?: string;
  /** Only keys that sort after this one. */
  after?: string;
  /** Only keys that sort before this one. */
  before?: string;
  /** Order of the keys, by code point. */
  order?: "asc" | "desc";
  /** Maximum number. */
  limit?: number;
}

export interface StateListResult {
  entries: Array<StateEntry>;
  next: string | null;
}

export interface StateClearParams {
  /** Namespace of the entry: labels joined by dots. */
  namespace: string;
  /** Only keys that begin so. */
  prefix?: string;
}

export interface StateClearResult {
  deleted: number;
}

export interface StateNamespacesParams {
  /** Only this namespace and those below it. */
  prefix?: string;
  /** Most labels of a namespace: deeper ones are cut off to these, and listed once. */
  max_depth?: number;
  /** The last namespace of the previous page. */
  after?: string;
  /** Maximum number. */
  limit?: number;
}

export interface StateNamespacesResult {
  namespaces: Array<string>;
  next: string | null;
}

export interface TeamsCreateParams {
  /** Display name. */
  name: string;
  description?: string | null;
}

export type TeamsCreateResult = Team;

export interface TeamsListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface TeamsListResult {
  teams: Array<Team>;
  total: number;
}

export interface TemplatesAuthorParams {
  /** Display name. */
  name: string;
  /** Slug of the template; its versions share it. */
  slug: string;
  description?: string | null;
  goal_template?: string | null;
  /** Steps of the template */
  steps: Array<GivenTemplateStep>;
}

export type TemplatesAuthorResult = ProcessTemplate;

export interface TemplatesListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. Default: all. */
  limit?: number;
}

export type TemplatesListResult = Array<TemplateSummary>;

export interface TemplatesGetParams {
  /** Slug of the template; its versions share it. */
  slug: string;
  /** Version. Default: the latest. */
  version_num?: number;
}

export type TemplatesGetResult = ProcessTemplate;

export interface TenantsCreateParams {
  /** Name of the tenant in URLs: at most 63 lower-case letters, digits and inner hyphens. */
  slug: string;
  /** Display name. */
  name: string;
  /** E-mail address of the first admin. */
  admin_email: string;
}

export interface TenantsCreateResult {
  tenant: Tenant;
  admin: {
    email: string;
    password: string;
  };
  agent: {
    /** Id of the agent. */
    id: string;
    api_key: string;
  };
  ingest_url: string;
}

export interface TenantsListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
}

export interface TenantsListResult {
  tenants: Array<Tenant>;
  total: number;
}

export interface TenantsUpdateParams {
  /** Id of the tenant. */
  tenant_id: string;
  /** `suspended`: all tokens of the tenant are refused. */
  status?: "active" | "suspended";
  storage_quota_mb?: number | null;
}

export type TenantsUpdateResult = Tenant;

export interface TenantsEraseParams {
  /** Id of the tenant. */
  tenant_id: string;
}

export interface TenantsEraseResult {
  /** Id of the tenant. */
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
  /** E-mail address, used to sign in. */
  email: string;
  /** Display name. */
  display_name?: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role?: "admin" | "member";
  /** Password of at least 12 characters. */
  password?: string;
}

export interface UsersCreateResult {
  /** Id of the user. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  /** E-mail address, used to sign in. */
  email: string;
  /** Display name. */
  display_name: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role: "admin" | "member";
  status: "active" | "disabled";
  /** `totp`: the password needs a code too. `oidc`: linked to an identity of the provider. */
  sign_in: Array<"password" | "totp" | "oidc">;
  created_at: string;
  updated_at: string;
  /** The generated password, shown only here. */
  password?: string;
}

export interface UsersListParams {
  /** Results to skip. */
  offset?: number;
  /** Maximum number of results. */
  limit?: number;
  /** Part of the name or the e-mail; case is ignored. */
  search?: string;
}

export interface UsersListResult {
  users: Array<User>;
  total: number;
}

export interface UsersUpdateParams {
  /** Id of the user. */
  user_id: string;
  /** Display name. */
  display_name?: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role?: "admin" | "member";
  /** `disabled`: the person cannot sign in. */
  status?: "active" | "disabled";
  /** `true` generates a new password, returned once. */
  reset_password?: boolean;
  /** `true` removes the second factor. */
  reset_totp?: boolean;
  /** `true` unlinks the identity of the provider; the next sign-in links one again. */
  unlink_identity?: boolean;
}

export interface UsersUpdateResult {
  /** Id of the user. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  /** E-mail address, used to sign in. */
  email: string;
  /** Display name. */
  display_name: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role: "admin" | "member";
  status: "active" | "disabled";
  /** `totp`: the password needs a code too. `oidc`: linked to an identity of the provider. */
  sign_in: Array<"password" | "totp" | "oidc">;
  created_at: string;
  updated_at: string;
  /** The generated password, shown only here. */
  password?: string;
}

export interface UsersDeleteParams {
  /** Id of the user. */
  user_id: string;
  /** Whether memories that were shared with a team or the organisation stay. */
  shared?: "keep" | "erase";
  /** The next owner of the person's agents. */
  agents_to?: string;
}

export type UsersDeleteResult = Deleted;

export interface A2aTask {
  /** Id of the A2A task. */
  id: string;
  /** Id of the agent. */
  agent_id: string;
  /** Groups the tasks of a conversation. */
  context_id: string;
  /** State, as A2A names it. */
  state: "TASK_STATE_SUBMITTED" | "TASK_STATE_WORKING" | "TASK_STATE_INPUT_REQUIRED" | "TASK_STATE_COMPLETED" | "TASK_STATE_FAILED" | "TASK_STATE_REJECTED" | "TASK_STATE_CANCELED";
  /** The task in the JSON of A2A 1.0: `status`, `history` and `artifacts`. */
  task: Record<string, unknown>;
  created_at: string;
  updated_at: string;
}

export interface Activity {
  kind: "cite";
  /** Id of the memory. */
  memory_id: string;
  /** The memory is the agent's own; the citation does not affect ranking. */
  own: boolean;
  originating_query_id: string | null;
  at: string;
}

export interface Agent {
  /** Id of the agent. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  /** Display name. */
  name: string;
  status: "active" | "inactive";
  delivery_mode: "poll" | "push" | "sse";
  description: string | null;
  delivery_endpoint: string | null;
  /** CloudEvents mode of pushes. `structured` (default): the body is the whole event. `binary`: the body is its data, and `ce-…` headers contain its attributes. An event whose attributes do not fit into headers (over 8 KB, or enriched) is always pushed in structured mode. */
  push_format: "structured" | "binary";
  /** Whether other agents can find and call the agent over A2A, at `/a2a/{agent_id}`. Its card there has its name and description, and is public. Default: false. */
  a2a: boolean;
  team_id: string | null;
  owner_user_id: string | null;
  visibility_timeout_seconds: number | null;
  retry_budget: number | null;
  /** Pushes stopped because the endpoint returned 410 Gone. Set `delivery_endpoint` to resume them. */
  push_stopped: boolean;
  created_at: string;
  updated_at: string;
  delivery?: DeliveryHealth;
}

export interface AgentDelivery {
  /** Id of the delivery, not of its event. */
  id: string;
  /** `ready`: not leased yet. `in_flight`: leased. `waiting`: will be retried. `dead`: a dead letter. `discarded`: removed by a person, or as a dead letter. */
  status: "ready" | "in_flight" | "waiting" | "acknowledged" | "dead" | "discarded";
  event: {
    /** Id of the event. */
    event_id: string;
    type: string;
    source: string;
    subject: string | null;
  } | null;
  attempt_count: number;
  next_attempt_at: string | null;
  last_error: {
    at: string;
    reason: string;
  } | null;
  created_at: string;
  /** Oldest first; the latest 20. */
  timeline: Array<{
    at: string;
    what: string;
    reason?: string;
  }>;
}

export interface Audience {
  /** Regions. */
  regions: Array<string>;
  /** Industries. */
  industries: Array<string>;
  /** Product lines. */
  product_lines: Array<string>;
  /** Customer segments. */
  segments: Array<string>;
}

export interface AuditEntry {
  /** Id of the audit entry. */
  id: string;
  at: string;
  action: string;
  actor_kind: "agent" | "user" | "operator" | "service";
  actor_id: string | null;
  resource_type: string | null;
  resource_id: string | null;
  /** `begun`: still running, or interrupted with an unknown outcome. */
  outcome: "begun" | "done" | "refused" | "failed";
  error: string | null;
  request_id: string | null;
  ip: string | null;
  /** Ids, counts, decisions and field names; never content. */
  details: Record<string, unknown>;
}

export interface AuthorizationRequest {
  client: {
    /** The client's id: registered, or the URL of its metadata document. */
    id: string;
    /** As the client calls itself. */
    name: string;
    uri: string | null;
    host: string | null;
  };
  redirect_to: string | null;
  redirect_kind: "computer" | "app" | "site" | null;
  user_code: string | null;
  /** What the client wants to use. */
  resource: string;
  /** Requested scopes that the person may grant. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  refusal: {
    error: string;
    error_description: string;
    /** Reports it to the client. */
    redirect_uri: string;
  } | null;
}

export interface BrowserSession {
  user: {
    /** Id of the user. */
    id: string;
    /** Display name. */
    display_name: string;
    role: "admin" | "member";
    /** Id of the tenant. */
    tenant_id: string;
    /** E-mail address, used to sign in. */
    email: string;
  };
  tenant: {
    /** Id of the tenant. */
    id: string;
    slug: string;
    /** Display name. */
    name: string;
  };
  expires_at: string;
  /** For the header X-CSRF-Token of requests that change state. */
  csrf_token: string;
}

export interface Bundle {
  /** Id of the bundle. */
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

export interface BundleForPeople {
  /** Id of the bundle. */
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
  rendered_brief: string | null;
  /** A source was unavailable. */
  degraded: boolean;
  degraded_reasons: Array<string>;
  /** The version of the ranking weights. */
  weights_version: string;
  created_at: string;
  /** Id of the agent. */
  agent_id: string;
}

export interface Channel {
  /** Id of the channel. */
  id: string;
  /** Display name. */
  name: string;
  description: string | null;
  created_at: string;
  updated_at: string;
}

export interface Chunk {
  /** Id of the chunk. */
  chunk_id: string;
  /** Id of the document. */
  document_id: string;
  page_number: number | null;
  /** Its start in the document's text. */
  char_offset: number;
  /** Its length in the document's text. */
  char_length: number;
  chunk_index: number;
  /** The text there. If it begins within a table, the table's header goes before it. */
  text: string;
  created_at: string;
}

export interface Citation {
  /** Id of the document. */
  document_id: string;
  document_name: string;
  page: number | null;
  snippet: string;
  /** Id of the source. */
  source_id: string;
  confidence: number | null;
  version: number | null;
  freshness: {
    /** The document was superseded or deleted since. */
    stale: boolean;
    stale_since: string | null;
  };
}

/** The device as it describes itself, shown to the person who confirms it. Not verified. */
export interface ClientInfo {
  /** Name of the client program. */
  name: string;
  /** Its version. */
  version: string;
  signature?: string | null;
  /** Name of the device. */
  host: string;
}

/** A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of lower-case letters and digits, their values are strings without control characters, booleans or 32-bit integers. */
export interface CloudEvent {
  /** Version of CloudEvents. */
  specversion: "1.0";
  /** Deduplication key, unique within the tenant. */
  id: string;
  /** Producing system. */
  source: string;
  /** Event type in reverse-DNS form, such as `com.example.order.created`. */
  type: string;
  /** What the event is about. */
  subject?: string;
  /** When the event happened (RFC 3339). */
  time?: string;
  /** Media type of `data`. */
  datacontenttype?: string;
  /** Schema of `data`. */
  dataschema?: string;
  /** Not to be delivered before this time (RFC 3339), at most 366 days ahead. */
  notbefore?: string;
  /** Any JSON. Numbers are stored as doubles: send integers beyond 2^53 as strings. */
  data?: unknown;
  /** Binary data in base64, instead of `data`. */
  data_base64?: string;
  [name: string]: unknown;
}

export interface Connector {
  /** Id of the connector. */
  id: string;
  /** Display name. */
  name: string;
  /** Protocol of the broker. `amqp091`: RabbitMQ. `amqp10`: Azure Service Bus, ActiveMQ Artemis, Qpid, RabbitMQ's plugin. */
  kind: "amqp091" | "amqp10";
  /** Address of the broker, without credentials and query. */
  url: string;
  queue: string | null;
  address: string | null;
  /** Name of the sender: the second part of the event type, and the end of the webhook's URL. */
  source: string;
  /** Maps messages to events, as for webhooks. `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
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
    /** Messages accepted as new events; redelivered duplicates do not count. */
    accepted: number;
    /** Messages whose id an event has already. */
    duplicates: number;
    /** Duplicates whose source or content differs from the first event's. They were not stored: choose an `id` that identifies the event. */
    differing_duplicates: number;
    /** Messages that could not be mapped and were dead-lettered. */
    mapping_errors: number;
  };
  lag: number | null;
  created_at: string;
  updated_at: string;
}

/** Maps messages to events, as for webhooks. `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0). */
export interface ConnectorMapping {
  /** Third part of the event type. */
  entity: string;
  /** Fourth part of the event type. */
  action: string;
  id?: string | null;
  subject?: string | null;
  data?: string | null;
}

export interface DeadLetter {
  /** Id of the delivery, not of its event. */
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

export interface Deleted {
  id: string;
  erased_at: string;
  /** Rows by kind. */
  erased: Record<string, number>;
  /** How the bytes were removed from the store's files. `rewritten`: the files were rewritten without them. `overwritten`: in place; fragments of rows that SQLite moved earlier, about one in a thousand, may remain in unused parts of pages. `deleted`: by MongoDB, whose data files, journal and oplog may keep them until the space is reused. */
  storage: "rewritten" | "overwritten" | "deleted";
  backups_until: string | null;
  /** A JWS of the service (`/.well-known/jwks.json`). */
  receipt: string;
}

export interface DeliveryEvent {
  /** Id of the delivery, not of its event. */
  id: string;
  event_id: string;
  /** The whole CloudEvent. */
  payload: Record<string, unknown>;
  /** Delivery attempts so far, from 1. */
  attempt_count: number;
  created_at: string;
  /** Identifies this attempt. Pass it when you reject or extend the delivery. */
  lease: string;
  lease_expires_at: string;
  /** The agent's interests and the channel feeds that matched the event. */
  matched: Matched;
}

export interface DeliveryHealth {
  /** `unreachable`: its endpoint cannot be reached, or answered 410 Gone. `stuck`: a delivery has been pending for `STUCK_AFTER_SECONDS` (5 minutes), and none was acknowledged in that time. `failing`: it has dead letters of the last 24 hours. `behind`: it acknowledges, but a delivery has been pending for that long. `quiet`: not seen for 24 hours, and nothing is pending. `ok`: none of these. The first of this list that applies is shown. The first four need attention. */
  state: "ok" | "quiet" | "behind" | "failing" | "stuck" | "unreachable";
  reason: string | null;
  /** Neither acknowledged nor dead-lettered. */
  pending: number;
  /** Pending deliveries that are leased. */
  in_flight: number;
  /** Pending deliveries that wait for a retry. */
  waiting: number;
  /** Dead letters. */
  dead: number;
  oldest_age_seconds: number | null;
  success_rate: number | null;
  last_acknowledged_at: string | null;
  last_seen_at: string | null;
  last_error: {
    at: string;
    reason: string;
  } | null;
}

export type DeviceStatus = {
  state: "waiting";
  /** Device code: four characters, a hyphen, four characters. Case and hyphen do not matter. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** Scopes of the device's key, at most the caller's. Default: the caller's except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
} | {
  state: "verifying";
  /** Device code: four characters, a hyphen, four characters. Case and hyphen do not matter. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** The device as it describes itself, shown to the person who confirms it. Not verified. */
  client_info: ClientInfo;
  claimed_at: string;
  /** Scopes of the device's key, at most the caller's. Default: the caller's except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  /** The claim to confirm; shown only to people. */
  claim_id?: string;
} | {
  state: "connected";
  /** Device code: four characters, a hyphen, four characters. Case and hyphen do not matter. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** The device as it describes itself, shown to the person who confirms it. Not verified. */
  client_info: ClientInfo;
  claimed_at: string;
  /** Scopes of the device's key, at most the caller's. Default: the caller's except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
  /** Id of the device session. */
  session_id: string;
  confirmed_at: string;
} | {
  state: "denied";
  /** Device code: four characters, a hyphen, four characters. Case and hyphen do not matter. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** Scopes of the device's key, at most the caller's. Default: the caller's except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
} | {
  state: "expired";
  /** Device code: four characters, a hyphen, four characters. Case and hyphen do not matter. */
  user_code: string;
  expires_at: string;
  server_now: string;
  /** Scopes of the device's key, at most the caller's. Default: the caller's except `admin`. */
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin">;
};

export interface Document {
  /** Id of the document. */
  document_id: string;
  filename: string;
  /** Media type of the file, in any case, with or without `charset`: `application/pdf`, `application/vnd.openxmlformats-officedocument.wordprocessingml.document`, `application/vnd.openxmlformats-officedocument.presentationml.presentation`, `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, `text/html`, `text/markdown`, `text/plain`. With `DOCUMENT_CONVERTER_URL`, others that the converter reads. */
  mime_type: string;
  status: "queued" | "chunking" | "embedding" | "stored" | "failed" | "superseded";
  error: string | null;
  byte_size: number;
  chunk_count: number;
  /** Who can read the document. `public` and `internal`: the whole tenant. `confidential` and `restricted`: the uploader and its team. Levels with the same readers differ only as a label. */
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
  /** Id of the source. */
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
  state_entries?: number;
  a2a_tasks?: number;
  schedules?: number;
}

export interface EventReceiver {
  /** Id of the delivery. */
  delivery_id: string;
  /** Id of the agent. */
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
  /** Id that the service gave the event. */
  event_id: string;
  /** `waiting`: for its `notbefore`. `parked`: fan-out failed five times; an admin can retry it. */
  state: "accepted" | "waiting" | "fanned_out" | "parked";
  accepted_at: string;
  waits_until: string | null;
  fanned_out_at: string | null;
  matched_count: number | null;
  /** Number of events with the same id from other sources. */
  duplicate_sources: number;
  publisher_id: string | null;
  /** A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of lower-case letters and digits, their values are strings without control characters, booleans or 32-bit integers. */
  payload: CloudEvent;
}

export interface Exemplar {
  /** Id of the exemplar. */
  id: string;
  /** Display name. */
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

export interface ExemplarReferrer {
  resource_type: "run" | "process_template";
  /** Id of the run, or slug of the template. */
  resource_id: string;
}

export interface Feed {
  /** Id of the feed. */
  id: string;
  /** Id of the channel. */
  channel_id: string;
  /** Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type_glob: string;
  filter_expression: string | null;
  created_at: string;
}

export interface Finding {
  /** Its position in the tenant's sequence. */
  seq: number;
  /** Id of the memory. */
  memory_id: string;
  title: string;
  /** The start of its content. */
  summary: string;
  /** Kind of knowledge. */
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  importance: number;
  confidence: number;
  /** Promoted to the institution, or written with that scope directly. */
  origin: "promoted" | "created";
  from_scope: "agent" | "team" | "institutional" | null;
  recorded_at: string;
  by_agent_id: string | null;
}

/** Where the content is. Never followed. */
export interface GivenPointer {
  uri?: string | null;
  provider?: string | null;
  native_id?: string | null;
  display_name?: string | null;
}

export interface GivenRunStep {
  /** Key of the step. */
  step_key: string;
  /** Display title. Default: the key. */
  title?: string;
  role?: string | null;
  specialist_name?: string | null;
  instructions?: string | null;
  /** Keys of steps to complete or skip first. */
  depends_on?: Array<string>;
  /** Criteria, attested one by one; the last completes the step. */
  completion_criteria?: Array<{
    /** Its key. */
    key: string;
    /** What must be true. */
    description: string;
  }>;
  /** Kinds of artifacts to register. */
  expected_artifact_kinds?: Array<string>;
  reference_pointer?: GivenPointer | null;
  reference_note?: string | null;
  due_in_seconds?: number | null;
  /** Default: `handoff_accepted` if a successor is assigned to someone else, otherwise `attestation`. */
  completion_mode?: "attestation" | "handoff_accepted";
  assigned_user_id?: string | null;
}

export interface GivenTemplateStep {
  /** Key of the step. */
  step_key: string;
  /** Display title. Default: the key. */
  title?: string;
  role?: string | null;
  specialist_name?: string | null;
  instructions?: string | null;
  /** Keys of steps to complete or skip first. */
  depends_on?: Array<string>;
  /** Criteria, attested one by one; the last completes the step. */
  completion_criteria?: Array<{
    /** Its key. */
    key: string;
    /** What must be true. */
    description: string;
  }>;
  /** Kinds of artifacts to register. */
  expected_artifact_kinds?: Array<string>;
  reference_pointer?: GivenPointer | null;
  reference_note?: string | null;
  due_in_seconds?: number | null;
  /** `handoff_accepted`: unless it has criteria, the step completes when a successor accepts a handoff offer. */
  completion_mode: "attestation" | "handoff_accepted";
}

export interface Handoff {
  /** Id of the handoff. */
  id: string;
  /** Id of the agent. */
  agent_id: string;
  /** Name of the handoff, unique per agent. */
  name: string;
  summary: string;
  /** State of the work. Other fields are kept and appear in the brief. */
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
    /** Id of the memory. */
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
  /** Time at which it expires, unless it is pinned. */
  expires_at: string;
  created_at: string;
  /** When it was last saved. */
  updated_at: string;
  bundle_id: string | null;
}

export interface HandoffCandidates {
  candidates: Array<{
    /** Id of the handoff. */
    id: string;
    /** Name of the handoff, unique per agent. */
    name: string;
    summary: string;
    score: number;
    updated_at: string;
  }>;
}

export interface HandoffDecision {
  /** The decision. */
  title: string;
  rationale?: string | null;
  [name: string]: unknown;
}

export interface HandoffForPeople {
  /** Id of the handoff. */
  id: string;
  /** Id of the agent. */
  agent_id: string;
  /** Name of the handoff, unique per agent. */
  name: string;
  summary: string;
  /** State of the work. Other fields are kept and appear in the brief. */
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
    /** Id of the memory. */
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
  /** Time at which it expires, unless it is pinned. */
  expires_at: string;
  created_at: string;
  /** When it was last saved. */
  updated_at: string;
  bundle_id: string | null;
  /** Markdown: what a successor gets when it resumes the handoff. */
  brief: string;
}

export interface HandoffOffer {
  /** Id of the handoff offer. */
  id: string;
  /** Id of the run. */
  run_id: string;
  /** Key of the step. */
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
  /** Id of the interest. */
  id: string;
  /** Id of the agent. */
  agent_id: string;
  /** Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; at most 16 `*`, and at most 32 `?` and `[...]`. */
  event_type: string;
  filter_expression: string | null;
  /** Delivery priority; 9 is delivered first. */
  priority: number;
  /** Adds the receiver's best memories about the event as `payload.enrichment.memories`: `shallow` three with title and score, `deep` ten with content. If the search fails or is late, `payload.enrichment.degraded` is true. */
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

export interface ListedBundle {
  /** Id of the bundle. */
  id: string;
  query: string | null;
  item_count: number;
  degraded: boolean;
  created_at: string;
}

export interface ListedHandoff {
  /** Id of the handoff. */
  id: string;
  /** Name of the handoff, unique per agent. */
  name: string;
  /** The beginning of the summary. */
  summary: string;
  /** Increases with every save. */
  version_num: number;
  origin_client: string | null;
  pinned_at: string | null;
  last_resumed_at: string | null;
  /** Time at which it expires, unless it is pinned. */
  expires_at: string;
  /** When it was last saved. */
  updated_at: string;
  bundle_id: string | null;
}

/** Maps a payload to an event. Each value is a literal, a JSON Pointer into the payload (`/issue/number`) or a header of the delivery (`header:X-GitHub-Event`). The event type is `com.<source>.<entity>.<action>` in lower case; each run of characters other than letters, digits, `_` and `-` within a part is replaced by `_`. */
export interface Mapping {
  /** Third part of the event type. */
  entity: string;
  /** Fourth part of the event type. */
  action: string;
  id?: string | null;
  subject?: string | null;
  data?: string | null;
}

/** The agent's interests and the channel feeds that matched the event. */
export interface Matched {
  interest_ids: Array<string>;
  feed_ids: Array<string>;
}

export interface Member {
  /** Id of the channel. */
  channel_id: string;
  /** Id of the agent. */
  agent_id: string;
  joined_at: string;
}

export interface Memory {
  /** Id of the memory. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  agent_id: string | null;
  user_id: string | null;
  /** Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). It can only be widened. */
  scope: "agent" | "team" | "institutional";
  team_id: string | null;
  /** Kind of knowledge. */
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  status: "active" | "forgotten" | "superseded" | "merged";
  /** Short summary. */
  title: string;
  /** Text of the memory. */
  content: string;
  /** How certain it is, from 0 to 1. */
  confidence: number;
  /** How much it matters, from 0 to 1. */
  importance: number;
  /** Free-form data of the caller, at most 64 KB as JSON. */
  metadata: Record<string, unknown>;
  source_type: string | null;
  source_id: string | null;
  source_url: string | null;
  source_event_id: string | null;
  freshness_date: string | null;
  expires_at: string | null;
  project_id: string | null;
  tags: Array<string>;
  namespace: string | null;
  key: string | null;
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
  /** Id of the memory. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  agent_id: string | null;
  user_id: string | null;
  /** Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). It can only be widened. */
  scope: "agent" | "team" | "institutional";
  team_id: string | null;
  /** Kind of knowledge. */
  type: "episodic" | "semantic" | "procedural" | "entity" | "reflection" | "reasoning";
  status: "active" | "forgotten" | "superseded" | "merged";
  /** Short summary. */
  title: string;
  /** Text of the memory. */
  content: string;
  /** How certain it is, from 0 to 1. */
  confidence: number;
  /** How much it matters, from 0 to 1. */
  importance: number;
  /** Free-form data of the caller, at most 64 KB as JSON. */
  metadata: Record<string, unknown>;
  source_type: string | null;
  source_id: string | null;
  source_url: string | null;
  source_event_id: string | null;
  freshness_date: string | null;
  expires_at: string | null;
  project_id: string | null;
  tags: Array<string>;
  namespace: string | null;
  key: string | null;
  supersedes_id: string | null;
  invalid_at: string | null;
  superseded_by: string | null;
  created_at: string;
  updated_at: string;
  accessed_at: string;
  usage: Usage;
}

export interface MergeProposal {
  /** Id of the merge proposal. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  proposer_user_id: string | null;
  proposer_agent_id: string | null;
  /** Id of the memory. */
  memory_a_id: string;
  /** Id of the memory. */
  memory_b_id: string;
  surviving_memory_id: string | null;
  /** Status of the proposal. */
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
  /** Id of the output. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  agent_id: string | null;
  user_id: string | null;
  project_id: string | null;
  /** Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). Set by the first save; default `agent`. */
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
  /** Id of the output version. */
  id: string;
  /** Id of the output. */
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
    /** Key of the step. */
    step_key: string;
    actor_kind: "agent" | "user";
    actor_id: string;
    at: string;
    handoff_offer_id: string | null;
  } | null;
  stale_steps: Array<PositionStep>;
}

export interface PositionStep {
  /** Key of the step. */
  step_key: string;
  title: string;
  role: string | null;
  assigned_user_id: string | null;
  /** `ready`: all of its dependencies are completed or skipped. `blocked`: some are not. */
  status: "blocked" | "ready" | "in_progress" | "completed" | "skipped";
  completion_mode: "attestation" | "handoff_accepted";
  why_ready: string | null;
  completion_criteria: Array<{
    /** Its key. */
    key: string;
    /** What must be true. */
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
  /** Id of the process template. */
  id: string;
  /** Display name. */
  name: string;
  /** Slug of the template; its versions share it. */
  slug: string;
  description: string | null;
  goal_template: string | null;
  version_num: number;
  steps: Array<TemplateStep>;
  created_at: string;
}

export interface Project {
  /** Id of the project. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  /** Key of the project, passed to other operations as `project_id`. Letters, digits, `.`, `_` and `-`; not a UUID. Immutable. */
  key: string;
  /** Display name. */
  name: string;
  /** Status of the project. */
  status: "active" | "completed" | "archived";
  target_date: string | null;
  /** Created automatically for existing resources that named it. */
  created_from_backfill: boolean;
  created_at: string;
  updated_at: string;
}

export interface PublishResult {
  /** Id that the service gave the event. */
  event_id: string;
  /** `duplicate`: an event with this `id` exists, and `event_id` is its id. */
  status: "accepted" | "duplicate";
  /** True for a duplicate whose source or content differs from the first event's, apart from the time: it was not stored. Otherwise absent. */
  differs?: boolean;
}

export interface RecentEvent {
  /** Id of the event. */
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
  /** Id of the relationship. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  /** Id of the memory. */
  source_memory_id: string;
  /** Id of the memory. */
  target_memory_id: string;
  /** One of the types listed by `GET /relationship-types`. New types may be added. */
  relationship_type: string;
  /** Strength; 1 is strongest. */
  strength: number;
  metadata: Record<string, unknown> | null;
  created_at: string;
}

export interface RelationshipType {
  /** One of the types listed by `GET /relationship-types`. New types may be added. */
  name: string;
  description: string;
  inverse: string | null;
}

export interface Run {
  /** Id of the run. */
  id: string;
  /** What the run must achieve. */
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
  /** Conditions under which the goal is achieved. */
  success_criteria: Array<string>;
  ambiguity_score: number | null;
  ambiguity_notes: Array<{
    /** Aspect. */
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
  /** Id of the artifact. */
  id: string;
  /** Id of the run. */
  run_id: string;
  step_record_id: string | null;
  /** Kind of artifact, as the run's steps expect it. */
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
  /** Id of the run step. */
  id: string;
  /** Key of the step. */
  step_key: string;
  /** Its position among the steps, from 1. */
  ordinal: number;
  title: string;
  role: string | null;
  specialist_name: string | null;
  instructions: string | null;
  depends_on: Array<string>;
  completion_criteria: Array<{
    /** Its key. */
    key: string;
    /** What must be true. */
    description: string;
  }>;
  /** `handoff_accepted`: unless it has criteria, the step completes when a successor accepts a handoff offer. */
  completion_mode: "attestation" | "handoff_accepted";
  expected_artifact_kinds: Array<string>;
  reference_pointer: Pointer | null;
  reference_note: string | null;
  due_in_seconds: number | null;
  assigned_user_id: string | null;
  /** `ready`: all of its dependencies are completed or skipped. `blocked`: some are not. */
  status: "blocked" | "ready" | "in_progress" | "completed" | "skipped";
  /** Keys of the criteria that were attested. */
  attested_criteria: Array<string>;
}

export interface RunWithAttempts {
  /** Id of the run. */
  id: string;
  /** What the run must achieve. */
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
  /** Conditions under which the goal is achieved. */
  success_criteria: Array<string>;
  ambiguity_score: number | null;
  ambiguity_notes: Array<{
    /** Aspect. */
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
    /** Id of the run step. */
    id: string;
    /** Key of the step. */
    step_key: string;
    /** Its position among the steps, from 1. */
    ordinal: number;
    title: string;
    role: string | null;
    specialist_name: string | null;
    instructions: string | null;
    depends_on: Array<string>;
    completion_criteria: Array<{
      /** Its key. */
      key: string;
      /** What must be true. */
      description: string;
    }>;
    /** `handoff_accepted`: unless it has criteria, the step completes when a successor accepts a handoff offer. */
    completion_mode: "attestation" | "handoff_accepted";
    expected_artifact_kinds: Array<string>;
    reference_pointer: Pointer | null;
    reference_note: string | null;
    due_in_seconds: number | null;
    assigned_user_id: string | null;
    /** `ready`: all of its dependencies are completed or skipped. `blocked`: some are not. */
    status: "blocked" | "ready" | "in_progress" | "completed" | "skipped";
    /** Keys of the criteria that were attested. */
    attested_criteria: Array<string>;
    attempts: Array<StepAttempt>;
  }>;
}

export interface Schedule {
  /** Id of the schedule. */
  id: string;
  /** Display name. */
  name: string;
  /** Agent or user that created it: the publisher of its events. */
  owner_id: string;
  /** `ended`: its last tick is over. It is deleted 30 days later. */
  status: "active" | "paused" | "ended";
  /** The CloudEvent to publish, without `id` and `time`: each tick gives them. Other names are extension attributes. */
  event: ScheduledEvent;
  cron: string | null;
  /** IANA time zone of `cron`. A local time that daylight saving skips is due when the clocks change; one that it repeats is due once, or every time if the hour is a range. */
  time_zone: string;
  at: string | null;
  /** How missed ticks are handled: those that could not be published within a minute, such as when the service was down or the owner inactive. `run_once`: the latest is published late. `run_all`: the latest 100 are. `skip`: none is. */
  on_missed: "skip" | "run_once" | "run_all";
  /** While true, nothing is published, and no tick is missed. */
  paused: boolean;
  next_run_at: string | null;
  last_run_at: string | null;
  last_event_id: string | null;
  last_missed_at: string | null;
  last_error: string | null;
  last_error_at: string | null;
  /** Events published. */
  run_count: number;
  created_at: string;
  updated_at: string;
}

/** The CloudEvent to publish, without `id` and `time`: each tick gives them. Other names are extension attributes. */
export interface ScheduledEvent {
  /** Event type in reverse-DNS form, such as `com.example.report.due`. */
  type: string;
  /** Producing system, a URI reference. Default: `sensorium/schedules/` and the schedule's id. */
  source?: string;
  /** What the event is about. */
  subject?: string;
  /** Media type of `data`. */
  datacontenttype?: string;
  /** Schema of `data`. */
  dataschema?: string;
  /** Any JSON. */
  data?: unknown;
  /** Binary data in base64, instead of `data`. */
  data_base64?: string;
  [name: string]: unknown;
}

export interface Session {
  /** Id of the device session. */
  session_id: string;
  /** `active`: seen within 24 hours. `ended`: its key was revoked, or its approval has ended, because the person who approved it was disabled, lost the role or the agent, or the agent was deactivated: connect it again. */
  state: "active" | "idle" | "ended";
  client_name: string;
  client_version: string;
  /** The client of OAuth that a person has approved; absent for a device. */
  oauth_client_id?: string;
  approved_by: {
    /** Id of the user. */
    id: string;
    /** Display name. */
    name: string;
  } | null;
  scopes: Array<"send" | "receive" | "memory:read" | "memory:write" | "channel:read" | "channel:write" | "admin"> | null;
  connected_at: string;
  last_activity_at: string;
}

export interface Specialist {
  /** Name of the specialist: lower-case letters and digits, separated by `.`, `_` or `-`. */
  name: string;
  version_num: number;
  /** Instructions for the agent that loads it. */
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

export interface StateEntry {
  namespace: string;
  key: string;
  /** 1 for a new entry; each write adds 1. */
  version: number;
  /** Length of the value in bytes. */
  size: number;
  value: string | null;
  /** Free-form data of the caller, at most 64 KB as JSON. */
  metadata: Record<string, unknown>;
  created_at: string;
  updated_at: string;
  expires_at: string | null;
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
  /** Differs after any change of events or deliveries; its value has no other meaning. */
  changes: number;
  deliveries: {
    pending: number;
    in_flight: number;
    waiting: number;
    dead: number;
    oldest_age_seconds: number | null;
  } | null;
  storage: Storage | null;
  /** The latest events, newest first, without the service's own. */
  recent: Array<RecentEvent>;
  health: {
    status: "ready" | "not_ready";
    checks: Record<string, string>;
  };
}

export interface StepAttempt {
  /** Id of the attempt. */
  id: string;
  /** Id of the run step. */
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
  /** Storage used, in bytes. Deleted data counts until the next hourly measurement. */
  used_bytes: number;
  quota_bytes: number | null;
}

export interface Team {
  /** Id of the team. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  /** Display name. */
  name: string;
  description: string | null;
  created_at: string;
}

export interface TemplateStep {
  /** Key of the step. */
  step_key: string;
  /** Its position among the steps, from 1. */
  ordinal: number;
  title: string;
  role: string | null;
  specialist_name: string | null;
  instructions: string | null;
  depends_on: Array<string>;
  completion_criteria: Array<{
    /** Its key. */
    key: string;
    /** What must be true. */
    description: string;
  }>;
  /** `handoff_accepted`: unless it has criteria, the step completes when a successor accepts a handoff offer. */
  completion_mode: "attestation" | "handoff_accepted";
  expected_artifact_kinds: Array<string>;
  reference_pointer: Pointer | null;
  reference_note: string | null;
  due_in_seconds: number | null;
}

export interface TemplateSummary {
  /** Id of the process template. */
  id: string;
  /** Display name. */
  name: string;
  /** Slug of the template; its versions share it. */
  slug: string;
  description: string | null;
  goal_template: string | null;
  version_num: number;
  step_count: number;
}

export interface Tenant {
  /** Id of the tenant. */
  id: string;
  /** Name of the tenant in URLs: at most 63 lower-case letters, digits and inner hyphens. */
  slug: string;
  /** Display name. */
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

export interface TrafficHistory {
  range: "15m" | "1h" | "24h" | "7d";
  from: string;
  to: string;
  /** Time of one value: 60, 300 with `24h`, 3600 with `7d`. The first begins at `from`, the last is in progress. */
  step_seconds: number;
  series: {
    /** Events accepted, without the service's own; with `agent_id`, those that the agent published. Null where nothing was recorded. */
    published: Array<number | null>;
    /** Deliveries created: an event has one for each receiver. Null where nothing was recorded. */
    created: Array<number | null>;
    /** Delivery attempts, retries included. Null where nothing was recorded. */
    delivered: Array<number | null>;
    /** Deliveries acknowledged. Null where nothing was recorded. */
    acknowledged: Array<number | null>;
    /** Attempts that were rejected, answered with an error, or not acknowledged in time. Null where nothing was recorded. */
    failed: Array<number | null>;
    /** Deliveries dead-lettered. Null where nothing was recorded. */
    dead_lettered: Array<number | null>;
    /** Mean time from a delivery's creation to its acknowledgement. Null without any. */
    latency_seconds: Array<number | null>;
  };
  /** The sums of the series. */
  totals: {
    /** Events accepted, without the service's own; with `agent_id`, those that the agent published. */
    published: number;
    /** Deliveries created: an event has one for each receiver. */
    created: number;
    /** Delivery attempts, retries included. */
    delivered: number;
    /** Deliveries acknowledged. */
    acknowledged: number;
    /** Attempts that were rejected, answered with an error, or not acknowledged in time. */
    failed: number;
    /** Deliveries dead-lettered. */
    dead_lettered: number;
    latency_seconds: number | null;
  };
  /** Types of events in this time, most frequent ones first; at most 100. */
  types: Array<string>;
}

export interface Usage {
  /** Citations in the last 30 days, including the owner's. */
  cite_count_30d: number;
  last_cited_at: string | null;
  /** The lowest confidence of the memory and its lineage: the memories that it superseded, absorbed in a merge or was derived from. */
  trust: number;
}

export interface User {
  /** Id of the user. */
  id: string;
  /** Id of the tenant. */
  tenant_id: string;
  /** E-mail address, used to sign in. */
  email: string;
  /** Display name. */
  display_name: string;
  /** `admin` has every scope and the actions reserved for people; `member` has every scope except `admin`. */
  role: "admin" | "member";
  status: "active" | "disabled";
  /** `totp`: the password needs a code too. `oidc`: linked to an identity of the provider. */
  sign_in: Array<"password" | "totp" | "oidc">;
  created_at: string;
  updated_at: string;
}

export interface Webhook {
  /** Id of the webhook. */
  id: string;
  /** Display name. */
  name: string;
  /** Name of the sender: the second part of the event type, and the end of the webhook's URL. */
  source: string;
  mapping: Mapping | "cloudevents" | "github" | "gitlab" | "slack" | "stripe" | "shopify" | "twilio" | "linear" | "sentry" | "standard_webhooks";
  url: string;
  last_request: WebhookRequest | null;
  created_at: string;
  updated_at: string;
}

/** For batches: one per event, in order. */
export type WebhookBatchResult = Array<WebhookResult>;

/** To Slack: its challenge. Its other requests are answered with an empty text. */
export interface WebhookChallenge {
  challenge: string;
}

export interface WebhookRequest {
  /** The `X-Request-Id` of the answer to the sender. */
  request_id: string;
  at: string;
  /** `accepted`, `duplicate`, `dead_lettered`: signed and answered with success. `challenge`: a verification of the address by Slack. `refused`: answered with an error, nothing was stored. */
  outcome: "accepted" | "duplicate" | "dead_lettered" | "challenge" | "refused";
  reason: string | null;
  event_id: string | null;
  dead_letter_id: string | null;
  /** Events in the request: more than 1 in a batch of CloudEvents. */
  events: number;
  /** Bytes of the body. */
  size: number;
  signature: string | null;
}

export interface WebhookResult {
  event_id: string | null;
  status: "accepted" | "duplicate" | "dead_lettered";
  /** True for a duplicate whose source or content differs from the first event's, apart from the time: it was not stored. Otherwise absent. */
  differs?: boolean;
}
