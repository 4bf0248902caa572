import { useState } from "react";
import { capitalised, listed } from "../../data/text.ts";
import { SelectField, TextField } from "../../ui/field.tsx";
import type { Readers } from "./upload.ts";
import { READERS } from "./words.tsx";

export const NO_READERS: Readers = { sensitivity: "internal" };

const LEVELS = ["public", "internal", "confidential", "restricted"] as const;

const OPTIONS = LEVELS.map((value) => ({ value, label: capitalised(value) }));

/** A person has no team: what is theirs only they read. */
const forYou = (level: Readers["sensitivity"]) => READERS[level].replace("the uploader and its team", "you");

const AUDIENCE = [
  ["regions", "Regions", "emea, apac"],
  ["industries", "Industries", "banking"],
  ["product_lines", "Product lines", "cards"],
  ["segments", "Segments", "enterprise"],
] as const;

/** The readers, audience and subject of the next uploads. */
export function ForWhom({ readers, onChange }: { readers: Readers; onChange(readers: Readers): void }) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const narrow = (name: string, text: string) => {
    const next = { ...texts, [name]: text };
    setTexts(next);
    const lists = Object.entries(next).map(([key, value]) => [key, listed(value)] as const);
    const audience = Object.fromEntries(lists.filter(([, labels]) => labels.length > 0));
    onChange({ ...readers, audience });
  };
  return (
    <div className="for-whom">
      <SelectField
        label="Sensitivity"
        hint={`Readers: ${forYou(readers.sensitivity)}.`}
        value={readers.sensitivity}
        options={OPTIONS}
        onChange={(sensitivity) => onChange({ ...readers, sensitivity })}
      />
      <details className="more-fields grow">
        <summary>Audience and subject</summary>
        <div className="audience">
          {AUDIENCE.map(([name, label, placeholder]) => (
            <TextField
              key={name}
              label={label}
              value={texts[name] ?? ""}
              placeholder={placeholder}
              onChange={(text) => narrow(name, text)}
            />
          ))}
        </div>
        <p className="field-hint">Separated by commas. Searches can filter by these. Empty: everyone.</p>
        <TextField
          label="Subject"
          value={readers.subject ?? ""}
          placeholder="customer-4711"
          maxLength={1000}
          onChange={(subject) => onChange({ ...readers, subject: subject || null })}
          hint="The person or entity that the document is about. Erasing the subject erases the document."
        />
      </details>
    </div>
  );
}
