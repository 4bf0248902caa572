import { Parser } from "htmlparser2";
import { UnreadableError } from "./page.ts";

type Attributes = Record<string, string>;

/** Handles the events of an XML part. Names come without their prefix. */
interface XmlHandler {
  open?(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

const SLICE = 65_536;
/** Deeper than any real document. */
const MAX_DEPTH = 1000;

/** Parses a part of an Office file. Refuses entities that the file declares, and so entity attacks. */
export function readXml(bytes: Uint8Array, handler: XmlHandler): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > MAX_DEPTH) throw new UnreadableError("is nested too deeply");
        handler.open?.(localName(name), attributes);
      },
      onclosetag(name) {
        depth--;
        handler.close?.(localName(name));
      },
      ontext: (text) => handler.text?.(text),
      onprocessinginstruction(name) {
        if (/^!doctype/i.test(name)) {
          throw new UnreadableError("declares a document type, which Office files never do");
        }
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  const decoder = new TextDecoder(detectEncoding(bytes));
  for (let at = 0; at < bytes.length; at += SLICE) {
    parser.write(decoder.decode(bytes.subarray(at, at + SLICE), { stream: true }));
  }
  parser.end();
}

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

function detectEncoding([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}
