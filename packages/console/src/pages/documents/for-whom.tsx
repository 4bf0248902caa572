import { useState } from "react";
import { listed } from "../../data/text.ts";
import { SelectField, TextField } from "../../ui/field.tsx";
import type { Readers } from "./upload.ts";

export const NO_READERS: Readers = { sensitivity: "internal" };

const SENSITIVITIES: { value: Readers["sensitivity"]; label: string }[] = [
  { value: "public", label: "Public: everyone in the organisation" },
  { value: "internal", label: "Internal: everyone in the organisation" },
  { value: "confidential", label: "Confidential: only you" },
  { value: "restricted", label: "Restricted: only you" },
];

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
        hint="Public and internal have the same readers, and so do confidential and restricted: the level is then only a label."
        value={readers.sensitivity}
        options={SENSITIVITIES}
        onChange={(value) => onChange({ ...readers, sensitivity: value as Readers["sensitivity"] })}
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
