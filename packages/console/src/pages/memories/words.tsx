import type { Memory, Relationship } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled } from "../../data/format.ts";
import type { Find } from "../../ui/combo.tsx";
import { list, text } from "../../ui/form.tsx";
import { plain } from "../../ui/plain.ts";
import { Badge, type Tone } from "../../ui/text.tsx";

export const TYPES = ["episodic", "semantic", "procedural", "entity", "reflection", "reasoning"] as const;
export const SCOPES = ["agent", "team", "institutional"] as const;

export const TITLE = text("Title", { required: true, maxLength: 500 });
export const TAGS = list("Tags", { hint: "Separated by commas." });

const STATUS_TONE = { active: "good", forgotten: "bad", superseded: "warn", merged: "info" } as const;

/** Only an unusual status gets a badge in a list. */
export function StatusBadge({ memory }: { memory: Memory }) {
  return <Badge label={capitalised(memory.status)} tone={STATUS_TONE[memory.status]} />;
}

const SCOPE_TONE: Record<Memory["scope"], Tone> = { agent: "neutral", team: "info", institutional: "accent" };

export function ScopeBadge({ scope }: { scope: Memory["scope"] }) {
  return <Badge label={capitalised(scope)} tone={SCOPE_TONE[scope]} />;
}

export function Tags({ tags }: { tags: string[] }) {
  if (tags.length === 0) return null;
  return (
    <span className="tags">
      {tags.map((tag) => (
        <span key={tag} className="tag">
          {tag}
        </span>
      ))}
    </span>
  );
}

export const percent = (share: number) => `${Math.round(share * 100)}%`;

/** The default that the service assumes (`POST /memories`). */
const DEFAULT_CONFIDENCE = 0.5;

/** Whether the confidence says more than that nobody stated one. */
export const isStated = ({ confidence }: Pick<Memory, "confidence">) => confidence !== DEFAULT_CONFIDENCE;

export function Confidence({ of }: { of: Pick<Memory, "confidence"> }) {
  return isStated(of) ? <span>Confidence {percent(of.confidence)}</span> : null;
}

export const relationWords = ({ relationship_type }: Pick<Relationship, "relationship_type">) =>
  relationship_type.toLowerCase().replaceAll("_", " ");

/** Finds memories by a part of their title or content. */
export const findMemories: Find = async (text, signal) => {
  const { memories } = await api.memories.list({ ...filled({ search: text.trim() }), limit: 20 }, { signal });
  return memories.map(({ id, title, content }) => ({ id, label: title, detail: plain(content) }));
};
