/**
 * Returns the media type in lower case without parameters: `application/json` for `Application/JSON; charset=utf-8`.
 */
export function mediaTypeOf(contentType: string): string {
  return contentType.split(";")[0]?.trim().toLowerCase() ?? "";
}
