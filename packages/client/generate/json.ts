/** The part of JSON Schema that the generators read. */
export interface JsonSchema {
  [keyword: string]: unknown;
  type?: string;
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  patternProperties?: Record<string, JsonSchema>;
}

/** Whether a media type is JSON, such as `application/ai-catalog+json`. */
export const isJson = (type: string) => /[/+]json\b/.test(type);
