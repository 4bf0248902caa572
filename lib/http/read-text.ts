/** Reads the text of a body of at most so many bytes. @throws Error made of what is wrong if it has more */
export async function readText(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  most: number,
  toError = (message: string) => new Error(message),
): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > most) throw toError(`it has more than ${most} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
