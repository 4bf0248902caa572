import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import rhea, { type Sender } from "rhea";
import { Amqp10Connector } from "../../connectors/amqp10.ts";
import { Amqp091Connector } from "../../connectors/amqp091.ts";
import { type BrokerMessage, type Connector, HEAD_BYTES } from "../../connectors/connector.ts";
import { resolveHost } from "../support/dns.ts";
import { settle } from "../support/settle.ts";

/** Brokers, and those who send through them, may be anybody's: what they send must not take all the memory there is. */

const MAX_BYTES = 200_000;
const open: { connector?: Connector; server: Server; sockets: Socket[] }[] = [];
afterEach(async () => {
  for (const { connector, server, sockets } of open.splice(0)) {
    await connector?.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  }
});

async function listening(server: Server) {
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket.on("error", () => {})));
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
  const opened: (typeof open)[number] = { server, sockets };
  open.push(opened);
  const source = { url: `amqp://127.0.0.1:${(server.address() as AddressInfo).port}`, from: "q" };
  return {
    opened,
    source: {
      ...source,
      ...{ after: null, prefetch: 2, maxBytes: MAX_BYTES, allowPrivate: true, resolve: resolveHost },
    },
  };
}

/** Returns the messages that a connector accepts from a misbehaving broker, and why it ended. */
async function consume(kind: typeof Amqp10Connector | typeof Amqp091Connector, server: Server) {
  const { opened, source } = await listening(server);
  const connector = new kind(source);
  opened.connector = connector;
  const messages: BrokerMessage[] = [];
  const opening = connector.open((message) => messages.push(message)).catch((err: Error) => err.message);
  return { connector, messages, opening };
}

describe("AMQP 1.0", () => {
  /** A broker that does `send` when it has been asked for messages. */
  function broker(send: (sender: Sender) => void): Server {
    const container = rhea.create_container();
    container.on("sender_open", ({ sender }) => sender?.set_source({ address: "q" }));
    container.once("sendable", ({ sender }) => send(sender as Sender));
    container.on("disconnected", () => {});
    return container.listen({ port: 0, host: "127.0.0.1" });
  }

  const AMQP_VALUE = [0x00, 0x53, 0x77];
  const billions = [0xff, 0xff, 0xff, 0xff];
  test.each([
    ["nulls without end", Buffer.from([...AMQP_VALUE, 0xf0, 0, 0, 0, 5, ...billions, 0x40])],
    ["a list without end", Buffer.from([...AMQP_VALUE, 0xd0, 0, 0, 0, 5, ...billions, 0x40])],
    ["no section", Buffer.from("hello")],
    ["an unknown section", Buffer.from([0x00, 0x53, 0x10, 0x40])],
    ["lists in lists", Buffer.concat([Buffer.from(AMQP_VALUE), deep(40_000)])],
  ])("what cannot be read is given as it came, and others after it: %s", async (_, raw) => {
    const server = broker((sender) => {
      sender.send(raw, undefined as never, 0);
      sender.send({ body: "next", message_id: "m-2" });
    });
    await once(server, "listening");
    const { messages } = await consume(Amqp10Connector, server);
    await settle(() => messages.length === 2);
    expect(messages[0]).toMatchObject({ unreadable: expect.any(String), size: raw.length });
    expect(messages[0]?.body.equals(raw.subarray(0, HEAD_BYTES))).toBe(true);
    expect(messages[1]).toMatchObject({ message_id: "m-2", size: 4 });
    expect(messages[1]?.unreadable).toBeUndefined();
  });

  test("of a message that is too large only the beginning is held", async () => {
    const sizes = [MAX_BYTES + 1, 50 * MAX_BYTES];
    const server = broker((sender) => {
      for (const size of sizes) sender.send({ body: rhea.message.data_section(Buffer.alloc(size, "x")) });
    });
    await once(server, "listening");
    const { messages } = await consume(Amqp10Connector, server);
    await settle(() => messages.length === 2);
    expect(messages[0]).toMatchObject({ size: MAX_BYTES + 1 });
    expect(messages[1]?.size).toBeGreaterThan(50 * MAX_BYTES);
    expect(messages.map(({ body }) => body.length)).toEqual([HEAD_BYTES, HEAD_BYTES]);
  });

  test("a frame that announces more than was allowed is not waited for", async () => {
    const frame = Buffer.from([0x7f, 0xff, 0xff, 0xff, 2, 1, 0, 0]);
    const server = createServer((socket) => {
      socket.write(Buffer.concat([Buffer.from("AMQP\0\x01\0\0"), frame]));
      const timer = setInterval(() => socket.write(Buffer.alloc(10_000)), 5);
      socket.on("close", () => clearInterval(timer));
    });
    const { opening } = await consume(Amqp10Connector, server);
    expect(await opening).toBe("the broker sent a frame over the agreed limit");
  });

  // The frame module is not exported.
  const frames = createRequire(import.meta.url)("../../node_modules/rhea/lib/frames.js");
  test.each<[string, (sender: Sender) => void]>([
    ["a session", ({ connection }) => connection.create_session().open()],
    ["a link", ({ session }) => session.open_sender("another")],
    [
      "the end of four billion messages",
      ({ session }) =>
        (session as unknown as { output(frame: object): void }).output(
          frames.disposition({ role: false, first: 1, last: 2 ** 32 - 1, settled: true }),
        ),
    ],
  ])("a broker that begins by itself %s is left", async (_, send) => {
    const server = broker((sender) => {
      send(sender);
      sender.send({ body: "next" });
    });
    await once(server, "listening");
    const { connector } = await consume(Amqp10Connector, server);
    expect(await connector.ended).toBe("the broker sent an unrequested frame");
  });

  function deep(levels: number): Buffer {
    const level = Buffer.from([0xd0, 0, 0, 0, 9, 0, 0, 0, 1]);
    return Buffer.concat([...Array.from({ length: levels }, () => level), Buffer.from([0x45])]);
  }
});

type Asked = { passive?: boolean; arguments: Record<string, unknown> };

describe("AMQP 0-9-1", () => {
  // The frame definitions are not exported.
  const require = createRequire(import.meta.url);
  const defs = require("../../node_modules/amqplib/lib/defs.js");
  const { parseFrame, decodeFrame, makeBodyFrame } = require("../../node_modules/amqplib/lib/frame.js");

  /** A broker that does `send` when its queue is consumed. */
  function broker(send: (socket: Socket) => void): Server {
    return createServer((socket) => {
      let rest = Buffer.alloc(0);
      let greeted = false;
      const say = (id: number, channel: number, fields: object) =>
        socket.write(defs.encodeMethod(id, channel, fields));
      socket.on("data", (chunk) => {
        rest = Buffer.concat([rest, chunk]);
        if (!greeted) {
          greeted = true;
          rest = rest.subarray(8);
          say(defs.ConnectionStart, 0, { serverProperties: {}, mechanisms: Buffer.from("PLAIN") });
        }
        for (let frame = parseFrame(rest, 0); frame; frame = parseFrame(rest, 0)) {
          rest = frame.rest;
          answer(decodeFrame(frame));
        }
      });
      function refuse(channel: number, methodId: number): void {
        const close = { replyCode: 406, replyText: "invalid arg", classId: methodId >> 16 };
        say(defs.ChannelClose, channel, { ...close, methodId: methodId & 0xffff });
      }
      function answer({ id, channel, fields }: { id: number; channel: number; fields: Asked }): void {
        if (id === defs.ConnectionStartOk) say(defs.ConnectionTune, 0, { frameMax: 0, heartbeat: 0 });
        if (id === defs.ConnectionOpen) say(defs.ConnectionOpenOk, 0, {});
        if (id === defs.ChannelOpen) say(defs.ChannelOpenOk, channel, {});
        // What the connector asks to learn which kind of queue it is.
        const declares = id === defs.QueueDeclare && !fields.passive;
        if (declares || (id === defs.BasicConsume && fields.arguments["x-stream-offset"])) {
          refuse(channel, id);
          return;
        }
        if (id === defs.QueueDeclare)
          say(defs.QueueDeclareOk, 1, { queue: "q", messageCount: 0, consumerCount: 0 });
        if (id === defs.BasicQos) say(defs.BasicQosOk, channel, {});
        if (id !== defs.BasicConsume) return;
        say(defs.BasicConsumeOk, 1, { consumerTag: "c" });
        send(socket);
      }
    });
  }

  let tag = 0;
  function announce(socket: Socket, size: number, messageId: string): void {
    const fields = { consumerTag: "c", deliveryTag: ++tag, exchange: "", routingKey: "q" };
    socket.write(defs.encodeMethod(defs.BasicDeliver, 1, fields));
    socket.write(defs.encodeProperties(defs.BasicProperties, 1, size, { messageId }));
  }
  function deliver(socket: Socket, body: Buffer, messageId: string): void {
    announce(socket, body.length, messageId);
    for (let at = 0; at < body.length; at += 100_000)
      socket.write(makeBodyFrame(1, body.subarray(at, at + 100_000)));
  }

  test("of a message that is too large only the beginning is held, and others come after it", async () => {
    const body = Buffer.alloc(50 * MAX_BYTES, "0123456789");
    const server = broker((socket) => {
      deliver(socket, body, "large");
      deliver(socket, Buffer.from("next"), "small");
    });
    const { messages } = await consume(Amqp091Connector, server);
    await settle(() => messages.length === 2);
    const [large, small] = messages as [BrokerMessage, BrokerMessage];
    expect(large).toMatchObject({ message_id: "large", size: body.length });
    expect(large.body.equals(body.subarray(0, HEAD_BYTES))).toBe(true);
    expect(small).toMatchObject({ message_id: "small", size: 4, body: Buffer.from("next") });
  });

  test("a broker that sends many more than it was asked for is left", async () => {
    const server = broker((socket) => {
      for (let n = 0; n < 100; n++) deliver(socket, Buffer.from(`${n}`), `${n}`);
    });
    const { connector, messages } = await consume(Amqp091Connector, server);
    expect(await connector.ended).toBe("the broker sent more messages than requested");
    expect(messages.length).toBeLessThan(10);
  });

  test("a frame that announces more than was allowed is not waited for, whatever the address says", async () => {
    const server = broker((socket) => socket.write(Buffer.from([3, 0, 1, 0x01, 0, 0, 0])));
    const { opened, source } = await listening(server);
    const connector = new Amqp091Connector({ ...source, url: `${source.url}?maxFrameSize=0&frameMax=0` });
    opened.connector = connector;
    await connector.open(() => {}).catch(() => {});
    expect(await connector.ended).toMatch(/Frame size 16777216 exceeds/);
  });
});
