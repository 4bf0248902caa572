import { Serializers } from "moleculer";
import { parseExact, stringifyExact } from "../json/json.ts";

/** Moleculer's JSON between nodes, in which long integers keep their digits as they do within one process. */
export class ExactSerializer extends Serializers.JSON {
  override serialize(packet: object): Buffer {
    return Buffer.from(stringifyExact(packet));
  }

  override deserialize(bytes: Buffer): unknown {
    return parseExact(bytes.toString());
  }
}
