import type { AnyModel } from "../storage/model.ts";
import { RecordedModel, TrafficModel } from "../storage/traffic/traffic.model.ts";
import { UsageModel } from "../storage/usage/usage.model.ts";
import { IdempotencyModel } from "./edge/idempotency/idempotency.model.ts";
import { AgentModel } from "./identity/agents/agents.model.ts";
import { AuditModel } from "./identity/audit/audit.model.ts";
import { EndedTokenModel, SigningKeyModel } from "./identity/auth/auth.model.ts";
import { ClaimBudgetModel, DeviceCodeModel, SessionModel } from "./identity/devices/devices.model.ts";
import { KeyModel } from "./identity/keys/keys.model.ts";
import { ClientModel, DeviceModel, GrantModel } from "./identity/oauth/oauth.model.ts";
import { OnboardingModel } from "./identity/onboarding/onboarding.model.ts";
import { ProjectModel } from "./identity/projects/projects.model.ts";
import { SecretKeyModel } from "./identity/rotation/rotation.model.ts";
import { TeamModel } from "./identity/teams/teams.model.ts";
import { TenantModel } from "./identity/tenants/tenants.model.ts";
import { UserModel } from "./identity/users/users.model.ts";
import { InstallationModel } from "./platform/nodes/nodes.model.ts";
import { BundleModel } from "./remember/bundles/bundles.model.ts";
import {
  ChunkModel as DocumentChunkModel,
  DocumentModel,
  SourceModel,
} from "./remember/documents/documents.model.ts";
import { CursorModel, FindingModel } from "./remember/findings/findings.model.ts";
import { CiteModel } from "./remember/memories/cites.model.ts";
import { MemoryErasureModel } from "./remember/memories/erasures.model.ts";
import { MemoryKeyModel } from "./remember/memories/keys.model.ts";
import { MemoryModel } from "./remember/memories/memories.model.ts";
import { MergeModel } from "./remember/merges/merges.model.ts";
import { RelationshipModel } from "./remember/relationships/relationships.model.ts";
import {
  EmbeddingModel,
  EntryModel,
  ErasureModel as SearchErasureModel,
  SearchStateModel,
} from "./remember/search/search.model.ts";
import { SpecialistLoadModel, SpecialistModel } from "./remember/specialists/specialists.model.ts";
import { StateModel } from "./remember/state/state.model.ts";
import { ChannelModel, FeedModel, MemberModel } from "./sense/channels/channels.model.ts";
import { ConnectorModel, ConnectorNodeModel } from "./sense/connectors/connectors.model.ts";
import { DeliveryModel } from "./sense/deliveries/deliveries.model.ts";
import { ProgressModel } from "./sense/deliveries/health/progress.model.ts";
import { ReplayModel } from "./sense/deliveries/history/history.model.ts";
import { EventTypeModel } from "./sense/events/event-types.model.ts";
import { EventModel } from "./sense/events/events.model.ts";
import { WebhookBodyModel, WebhookLogModel, WebhookModel } from "./sense/ingest/ingest.model.ts";
import { InterestModel } from "./sense/interests/interests.model.ts";
import { WaitModel } from "./sense/interests/waits.model.ts";
import { PushEndpointModel } from "./sense/push/push.model.ts";
import { ScheduleModel } from "./sense/schedules/schedules.model.ts";
import { A2aTaskModel } from "./work/a2a/a2a-tasks.model.ts";
import { PushConfigModel } from "./work/a2a/push-configs.model.ts";
import { ApprovalModel } from "./work/approvals/approvals.model.ts";
import { SlackChannelModel } from "./work/approvals/slack.model.ts";
import { ExemplarModel } from "./work/exemplars/exemplars.model.ts";
import { HandoffModel } from "./work/handoffs/handoffs.model.ts";
import {
  MailBudgetModel,
  ChunkModel as OutputChunkModel,
  OutputModel,
  VersionModel,
} from "./work/outputs/outputs.model.ts";
import { RunArtifactModel, RunFactsModel, RunModel } from "./work/runs/runs.model.ts";
import { TemplateModel } from "./work/templates/templates.model.ts";

/** Every collection: whatever must reach all of them, on any node, goes through this list. */
export const MODELS: readonly AnyModel[] = [
  IdempotencyModel,
  AgentModel,
  AuditModel,
  SigningKeyModel,
  EndedTokenModel,
  DeviceCodeModel,
  SessionModel,
  ClaimBudgetModel,
  KeyModel,
  ClientModel,
  DeviceModel,
  GrantModel,
  OnboardingModel,
  ProjectModel,
  SecretKeyModel,
  TeamModel,
  TenantModel,
  UserModel,
  BundleModel,
  SourceModel,
  DocumentModel,
  DocumentChunkModel,
  FindingModel,
  CursorModel,
  CiteModel,
  MemoryErasureModel,
  MemoryKeyModel,
  MemoryModel,
  MergeModel,
  RelationshipModel,
  EntryModel,
  SearchStateModel,
  EmbeddingModel,
  SearchErasureModel,
  SpecialistModel,
  SpecialistLoadModel,
  StateModel,
  ChannelModel,
  MemberModel,
  FeedModel,
  ConnectorModel,
  ConnectorNodeModel,
  DeliveryModel,
  ProgressModel,
  ReplayModel,
  EventModel,
  EventTypeModel,
  WebhookModel,
  WebhookBodyModel,
  WebhookLogModel,
  InterestModel,
  WaitModel,
  PushEndpointModel,
  ScheduleModel,
  A2aTaskModel,
  PushConfigModel,
  ApprovalModel,
  SlackChannelModel,
  ExemplarModel,
  HandoffModel,
  MailBudgetModel,
  OutputModel,
  VersionModel,
  OutputChunkModel,
  RunModel,
  RunFactsModel,
  RunArtifactModel,
  TemplateModel,
  TrafficModel,
  RecordedModel,
  UsageModel,
  InstallationModel,
];
