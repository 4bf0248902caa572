/** JSON Schema of contracts; types only the keywords read here. */
export interface JsonSchema {
  [keyword: string]: unknown;
  type?: string;
  title?: string;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  patternProperties?: Record<string, JsonSchema>;
}

/** The key pattern of maps in contracts. */
export const ANY_KEY = "^.*$";
