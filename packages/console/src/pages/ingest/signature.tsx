import type { Webhook } from "../../../../client/index.ts";
import { filled } from "../../data/format.ts";
import { type Option, SelectField } from "../../ui/field.tsx";
import {
  type Drafts,
  draftsOf,
  type Field,
  number,
  select,
  shownOf,
  text,
  valuesOf,
} from "../../ui/form.tsx";
import { SENDERS } from "./senders.ts";

const HEADER = { pattern: "[A-Za-z0-9\\-]{1,100}", className: "mono" } as const;
const PART = { maxLength: 100, className: "mono" } as const;

const CUSTOM = {
  header: text("Header", {
    ...{ ...HEADER, required: true, placeholder: "X-Acme-Signature" },
    hint: "With the signature, or several separated by commas, semicolons or spaces.",
  }),
  prefix: text("Prefix", { ...PART, placeholder: "v1=", hint: "Text before each signature. Optional." }),
  algorithm: select("Algorithm", [
    { value: "sha256", label: "HMAC-SHA256" },
    { value: "sha512", label: "HMAC-SHA512" },
    { value: "sha1", label: "HMAC-SHA1" },
  ]),
  encoding: select("Encoding", [
    { value: "hex", label: "Hexadecimal" },
    { value: "base64", label: "Base64" },
  ]),
  template: text("Signed text", {
    ...{ maxLength: 200, className: "mono", placeholder: "{timestamp}.{body}" },
    hint: "With {body}, and {timestamp} if the time is signed too. Default: the body.",
  }),
  timestamp_header: text("Header of the time", {
    ...HEADER,
    required: true,
    placeholder: "X-Acme-Timestamp",
  }),
  timestamp_prefix: text("Prefix of the time", { ...PART, placeholder: "t=", hint: "Optional." }),
  tolerance_seconds: number("Tolerance in seconds", {
    ...{ min: 1, max: 86_400 },
    hint: "How far the time may be from the present. Default: 300.",
  }),
};
type Custom = Drafts<typeof CUSTOM>;

/** The name of a sender, an HMAC, or "" for all that a header identifies. */
type Draft = Custom | keyof typeof SENDERS | "";

const isTimed = ({ template }: Custom) => template.includes("{timestamp}");

/** The only signature that a webhook with a mapping of one's own accepts. */
export const signatureField: Field<Webhook["signature"], Draft> = {
  draftOf: (given) => (typeof given === "object" && given ? draftsOf(CUSTOM, given) : (given ?? "")),
  valueOf: (draft) => {
    if (typeof draft === "string") return draft || null;
    const { timestamp_header, timestamp_prefix, tolerance_seconds, ...untimed } = valuesOf(CUSTOM, draft);
    const timed = isTimed(draft) ? { timestamp_header, timestamp_prefix, tolerance_seconds } : {};
    return { scheme: "custom", ...filled({ ...untimed, ...timed }) } as Webhook["signature"];
  },
};

const KINDS: Option[] = [
  { value: "", label: "Any known signature in a header" },
  { value: "custom", label: "An HMAC that you describe" },
  ...Object.entries(SENDERS).map(([value, { title }]) => ({ value, label: `As ${title} signs` })),
];

interface Props<D> {
  value: D;
  onChange(draft: Draft): void;
}

export function SignatureFields({ value: draft, onChange }: Props<Draft>) {
  return (
    <>
      <SelectField
        label="Signature"
        options={KINDS}
        value={typeof draft === "string" ? draft : "custom"}
        onChange={(kind) => onChange(kind === "custom" ? draftsOf(CUSTOM) : (kind as Draft))}
        hint={draft !== "" && "Requests with another signature are refused."}
      />
      {typeof draft !== "string" && <CustomFields value={draft} onChange={onChange} />}
    </>
  );
}

function CustomFields({ value: draft, onChange }: Props<Custom>) {
  const { grid } = shownOf(CUSTOM, draft, (name, part) => onChange({ ...draft, [name]: part }));
  return (
    <div className="mapping">
      {grid("header", "prefix", "algorithm", "encoding", "template")}
      {isTimed(draft) && grid("timestamp_header", "timestamp_prefix", "tolerance_seconds")}
    </div>
  );
}
