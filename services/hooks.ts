import type { OtherEmbedders } from "../connectors/embedders/make.ts";
import type { Tracing } from "../observability/tracing.ts";
import type { DocumentConverter } from "./remember/documents/converter.ts";
import type { DocumentReaders } from "./remember/documents/parsers/page.ts";
import type { Reranking } from "./remember/search/find.ts";
import type { ApprovalChannelFactory } from "./work/approvals/channel.ts";
import type { FileWriters } from "./work/outputs/render/render.ts";

/** Functions of extensions for the core, which works without: `hooks` of a running extension (services/extensions.ts). */
export interface Hooks {
  /** Reads documents that the core cannot read. */
  documentConverter?: DocumentConverter;
  /** Reads documents of further types, without another service. */
  documentReaders?: DocumentReaders;
  /** Computes the vectors of texts, where `EMBEDDER` names it. */
  embedders?: OtherEmbedders;
  /** Orders the best results of a search. */
  reranking?: Reranking;
  /** Writes outputs as PDF and DOCX. */
  fileWriters?: FileWriters;
  /** Ways to ask people, and to answer, besides the console. */
  approvalChannels?: readonly ApprovalChannelFactory[];
  /** Creates and exports spans. */
  tracing?: Tracing;
}
