import type { Document } from "../../../../client/index.ts";
import { capitalised } from "../../data/format.ts";
import { Badge, type Tone } from "../../ui/text.tsx";

const TONE: Record<Document["status"], Tone> = {
  queued: "neutral",
  chunking: "info",
  embedding: "info",
  stored: "good",
  failed: "bad",
  superseded: "warn",
};

const UNDERWAY: readonly Document["status"][] = ["queued", "chunking", "embedding"];
export const isUnderway = ({ status }: Pick<Document, "status">) => UNDERWAY.includes(status);

export function DocumentStatus({ document }: { document: Document }) {
  return (
    <Badge label={capitalised(document.status)} tone={TONE[document.status]} dot={isUnderway(document)} />
  );
}

const KIND: [part: string, says: string][] = [
  ["pdf", "PDF"],
  ["wordprocessing", "Word"],
  ["presentation", "Slides"],
  ["spreadsheet", "Sheet"],
  ["html", "HTML"],
  ["markdown", "Markdown"],
  ["csv", "CSV"],
  ["tab-separated", "TSV"],
  ["json", "JSON"],
  ["rfc822", "E-mail"],
];

export const kindInWords = (mime: string) => KIND.find(([part]) => mime.includes(part))?.[1] ?? "Text";

/** The readers of a document of each level. Levels with the same readers differ as a label. */
export const READERS: Record<Document["sensitivity"], string> = {
  public: "everyone in the organisation, as for internal",
  internal: "everyone in the organisation",
  confidential: "only the uploader and its team",
  restricted: "only the uploader and its team, as for confidential",
};

const LEVEL_TONE = {
  public: "neutral",
  internal: "neutral",
  confidential: "warn",
  restricted: "bad",
} as const;

/** A level of sensitivity, with its meaning on hover. */
export function Sensitivity({ of: level }: { of: Document["sensitivity"] }) {
  return (
    <span title={`Readers: ${READERS[level]}.`}>
      <Badge label={capitalised(level)} tone={LEVEL_TONE[level]} />
    </span>
  );
}
