import { useState } from "react";
import { useAddress } from "../../data/use-address.ts";
import { IconButton } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { X } from "../../ui/icons.tsx";
import { conditionsOf, metadataIn, toAddress, withCondition, withoutCondition } from "./metadata.ts";

function useMetadata() {
  const [search, change] = useAddress();
  const filter = metadataIn(search.get("metadata") ?? "");
  return { filter, set: (next: typeof filter) => change({ metadata: toAddress(next) }) };
}

/** Adds a condition on the metadata on leaving the field or on Enter. */
export function MetadataFilterField() {
  const { filter, set } = useMetadata();
  const [text, setText] = useState("");
  const [refused, setRefused] = useState(false);
  const add = () => {
    const next = text.trim() ? withCondition(filter, text) : filter;
    setRefused(next === null);
    if (!next || next === filter) return;
    set(next);
    setText("");
  };
  return (
    <TextField
      label="Metadata"
      placeholder="amount >= 100"
      value={text}
      error={
        refused ? "Write a key, =, >, >=, < or <=, and a value; bounds are numbers or dates." : undefined
      }
      onChange={setText}
      onBlur={add}
      onKeyDown={(event) => event.key === "Enter" && add()}
    />
  );
}

/** The conditions on the metadata, each with a button that removes it. */
export function MetadataChips() {
  const { filter, set } = useMetadata();
  const conditions = conditionsOf(filter);
  if (conditions.length === 0) return null;
  return (
    <ul className="chips" aria-label="Metadata conditions">
      {conditions.map((condition) => (
        <li key={condition.text} className="chip">
          <span className="break">{condition.text}</span>
          <IconButton
            icon={X}
            label={`Remove ${condition.text}`}
            onClick={() => set(withoutCondition(filter, condition))}
          />
        </li>
      ))}
    </ul>
  );
}
