import type { Socket } from "node:net";
import rhea, { type Connection, type Delivery, type Receiver, type Typed } from "rhea";

/** The used fields of a frame that carries a message or part of one. */
interface Transfer {
  performative: { message_format: number; more?: boolean; aborted?: boolean };
  payload?: Buffer;
}

/** A received message: its beginning and its total size in bytes. */
export interface Transferred {
  raw: Buffer;
  size: number;
}

/** The decoded sections of a message. */
interface Sections {
  body: Buffer;
  content_type?: unknown;
  content_encoding?: unknown;
  message_id?: unknown;
  properties: Record<string, unknown>;
  annotations: Record<string, unknown>;
  /** Other properties of the message: its user, addresses, correlation id, times and group. */
  other: unknown[];
}

/** The frame limit announced to the broker, which the broker respects. */
export const FRAME_BYTES = 131_072;
/** A message format with which rhea leaves messages undecoded; AMQP's own is 0. */
const AS_IT_CAME = 1;

// rhea's types omit it.
const { Reader } = rhea.types as unknown as {
  Reader: {
    new (buffer: Buffer): { read(): Typed; remaining(): number };
    prototype: Record<string, ReadMany>;
  };
};

type ReadMany = (this: { buffer: Buffer }, count: number, type: unknown) => unknown[];

boundValues();

/**
 * Lists and arrays start with their number of values, for which rhea allocates space. Some values take no bytes, so a
 * message of a dozen bytes could claim billions; a real message never has more values than bytes.
 */
function boundValues(): void {
  const announced = new WeakMap<object, number>();
  for (const name of ["read_n", "read_array_items"]) {
    const read = Reader.prototype[name] as ReadMany;
    Reader.prototype[name] = function (count, type) {
      const total = (announced.get(this) ?? 0) + count;
      if (total > this.buffer.length)
        throw new Error(`it declares ${total} values in ${this.buffer.length} bytes`);
      announced.set(this, total);
      return read.call(this, count, type);
    };
  }
}

interface Frame {
  // biome-ignore lint/suspicious/noExplicitAny: its fields follow from its kind
  performative: any;
}

/** The most deliveries that a broker settles at once: rhea iterates over the whole named range. */
const MOST_SETTLED = 65_536;

/** The frames a broker may send to the named receivers: for any other rhea would allocate without limit. */
const ASKED_FOR: Record<string, (frame: Frame, names: ReadonlySet<string>) => boolean> = {
  on_begin: ({ performative }) => typeof performative.remote_channel === "number",
  on_attach: ({ performative }, names) => names.has(performative.name),
  on_disposition: ({ performative: { first, last } }) => !last || last - first < MOST_SETTLED,
};

/** Ends the connection with an error when the broker sends something unrequested. */
export function refuseUnasked(connection: Connection, names: ReadonlySet<string>): void {
  for (const [name, isAskedFor] of Object.entries(ASKED_FOR)) {
    const pass = connection[name].bind(connection) as (frame: Frame) => void;
    connection[name] = (frame: Frame) => {
      if (!isAskedFor(frame, names)) throw new Error("the broker sent an unrequested frame");
      pass(frame);
    };
  }
}

/**
 * Calls back with each raw message of a receiver, null for one that its sender aborted. Buffers at most `most` bytes of
 * each: rhea assembles the parts of a message without limit.
 */
export function onTransferred(
  connection: Connection,
  receiver: Receiver,
  most: number,
  onMessage: (message: Transferred | null, delivery: Delivery) => void,
): void {
  const pass = connection.on_transfer.bind(connection) as (frame: Transfer) => void;
  let size = 0;
  let aborted = false;
  connection.on_transfer = (frame: Transfer) => {
    const { performative, payload = Buffer.alloc(0) } = frame;
    const held = payload.subarray(0, Math.max(most - size, 0));
    // Drop empty parts, or an endless series of them would accumulate.
    if (size > 0 && held.length === 0) delete frame.payload;
    else frame.payload = held;
    size += payload.length;
    aborted = performative.aborted === true;
    performative.message_format = AS_IT_CAME;
    pass(frame);
    // Otherwise rhea allows the broker to send more only at the end of a message, and so never for a long one.
    if (performative.more) connection._register();
  };
  receiver.on("message", ({ message, delivery }) => {
    const whole = size;
    size = 0;
    onMessage(aborted ? null : { raw: message as unknown as Buffer, size: whole }, delivery as Delivery);
  });
}

/** Calls back when a frame exceeds the allowed length: rhea would buffer it until complete. */
export function onLongFrame(
  connection: () => Connection | undefined,
  socket: Socket,
  call: () => void,
): void {
  socket.on("data", () => {
    if (connection()?.frame_size > FRAME_BYTES) call();
  });
}

const ANNOTATIONS = 0x72;
const PROPERTIES = 0x73;
const APPLICATION_PROPERTIES = 0x74;
const DATA = 0x75;
const SEQUENCE = 0x76;
const VALUE = 0x77;
/** Unused sections: header, annotations, footer. */
const OTHERS = [0x70, 0x71, 0x78];
const BY_SYMBOL: Record<string, number> = {
  "amqp:header:list": 0x70,
  "amqp:delivery-annotations:map": 0x71,
  "amqp:message-annotations:map": ANNOTATIONS,
  "amqp:properties:list": PROPERTIES,
  "amqp:application-properties:map": APPLICATION_PROPERTIES,
  "amqp:data:binary": DATA,
  "amqp:amqp-sequence:list": SEQUENCE,
  "amqp:value:*": VALUE,
  "amqp:footer:map": 0x78,
};
const MESSAGE_ID = 0;
const CONTENT_TYPE = 6;
const CONTENT_ENCODING = 7;

/** Decodes the sections of a message (AMQP 1.0, 3.2). @throws Error for a malformed message */
export function readMessage(raw: Buffer): Sections {
  const read: Omit<Sections, "body"> = { properties: {}, annotations: {}, other: [] };
  const bodies: { code: number; content: unknown }[] = [];
  const reader = new Reader(raw);
  while (reader.remaining() > 0) {
    const section = reader.read();
    const code = codeOf(section.descriptor);
    if (code === PROPERTIES) {
      read.message_id = rhea.types.unwrap(section.value[MESSAGE_ID]);
      read.content_encoding = rhea.types.unwrap(section.value[CONTENT_ENCODING]);
      read.other = section.value.slice(MESSAGE_ID + 1).map((value: Typed) => rhea.types.unwrap(value));
      read.content_type = rhea.types.unwrap(section.value[CONTENT_TYPE]);
    } else if (code === APPLICATION_PROPERTIES || code === ANNOTATIONS) {
      read[code === ANNOTATIONS ? "annotations" : "properties"] = toProperties(section.value);
    } else if (code === DATA || code === SEQUENCE || code === VALUE) {
      bodies.push({ code, content: rhea.types.unwrap(section) });
    } else if (!OTHERS.includes(code)) throw new Error("it contains an unknown section");
  }
  return { ...read, body: joinBodies(bodies) };
}

/** Converts alternating names and values. */
function toProperties(flat: Typed[]): Record<string, unknown> {
  const names = flat.filter((_, i) => i % 2 === 0);
  const named = names.map((name, i) => [String(rhea.types.unwrap(name)), toProperty(flat[2 * i + 1])]);
  return Object.fromEntries(named);
}

/** Converts UUIDs and large 64-bit integers, which rhea leaves as bytes, to text. */
function toProperty(typed: Typed | undefined): unknown {
  const value = rhea.types.unwrap(typed);
  if (!Buffer.isBuffer(value)) return value;
  const { name } = (typed as Typed).type as unknown as { name: string };
  if (name === "Long") return String(value.readBigInt64BE());
  if (name === "Ulong") return String(value.readBigUInt64BE());
  return name === "Uuid" ? uuidText(value) : value;
}

function uuidText(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function codeOf(descriptor: unknown): number {
  const { value } = (descriptor ?? {}) as { value?: unknown };
  return typeof value === "string" ? (BY_SYMBOL[value] ?? Number.NaN) : Number(value);
}

/** Returns data sections unchanged, a text value as UTF-8, and any other value as JSON with bytes in base64. */
function joinBodies(bodies: { code: number; content: unknown }[]): Buffer {
  const contents = bodies.map(({ content }) => content);
  if (contents.length > 0 && contents.every((content) => Buffer.isBuffer(content)))
    return Buffer.concat(contents);
  const body = contents.length > 1 ? contents : contents[0];
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body ?? null, inJson));
}

/** A `JSON.stringify` replacer, which gets bytes as Node serializes them. */
function inJson(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const raw = this[key];
  return Buffer.isBuffer(raw) ? raw.toString("base64") : value;
}
