import type { EvidenceKind } from "./approvals.contract.ts";

/** The question, as it was asked. */
export interface Asked {
  title: string;
  question: string;
  choices: string[];
  text_allowed: boolean;
  evidence: { kind: EvidenceKind; id: string; sha256: string | null }[];
  subject: string | null;
}

export const parseAsked = ({ asked_json }: { asked_json: string }): Asked => JSON.parse(asked_json);
