import { Type } from "typebox";
import { oneOf, operation } from "../../../lib/contract/contract.ts";
import { EXPORT_FORMATS, type ExportFormat, OutputId } from "./outputs.contract.ts";

/** Media type of each format. */
export const EXPORT_TYPES = {
  md: "text/markdown; charset=utf-8",
  html: "text/html; charset=utf-8",
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
} as const satisfies Record<ExportFormat, string>;

const Format = oneOf(EXPORT_FORMATS, { description: "Format of the attachment.", examples: ["html"] });

export const exportOutput = operation({
  action: "outputs.export",
  route: "GET /outputs/{output_id}/export",
  summary: "Download an output as a file",
  description:
    "For people. Returns the current version. `md`: as saved; `html`: without active content; `pdf` and `docx`: " +
    "only if the operator enables them with `OUTPUT_EXPORT`, otherwise 404. In a PDF, boxes stand for letters that no " +
    "installed font has: the header `Warning` names some.",
  access: { by: "user" },
  audit: true,
  path: { output_id: OutputId },
  query: { format: Type.Optional(oneOf(EXPORT_FORMATS, { default: "md", description: "File format." })) },
  fromBlob: "answer",
  answer: Type.String(),
  produces: [EXPORT_TYPES.md, EXPORT_TYPES.html, EXPORT_TYPES.pdf, EXPORT_TYPES.docx],
  attachment: true,
  errors: ["business_rule_violation"],
});

export const emailOutput = operation({
  action: "outputs.email",
  route: "POST /outputs/{output_id}/email",
  summary: "Send an output by e-mail",
  description:
    "For people. The e-mail contains the text; `attach_format` also attaches it as a file. Returns 404 if the " +
    "operator has disabled e-mail, and 503 if no mail server is configured.",
  access: { by: "user" },
  overQuota: true,
  path: { output_id: OutputId },
  body: {
    to: Type.String({
      format: "email",
      maxLength: 320,
      description: "E-mail address of the recipient.",
      examples: ["ann@example.com"],
    }),
    subject: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 300,
        pattern: "^[^\\r\\n]*\\S[^\\r\\n]*$",
        description: "Subject of the e-mail. Default: the output's title.",
      }),
    ),
    attach_format: Type.Optional(Format),
  },
  answer: Type.Object({ status: oneOf(["sent"]), to: Type.String() }),
  errors: ["business_rule_violation"],
});
