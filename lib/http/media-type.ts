/** Returns the media type in lower case, without parameters. */
export function mediaTypeOf(contentType: string): string {
  return contentType.split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Returns the `charset` of a media type in lower case; undefined without one. */
export function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType)?.[1]?.toLowerCase();
}
/** Media types of JSON, in lower case and without parameters. */
export const JSON_TYPE = /^[^/]+\/(?:[^/]+\+)?json$/;
