import { SMTPServer } from "smtp-server";

/** An e-mail with its headers. */
export type Received = { from: string; to: string[]; data: string };

/** A mail server that keeps what it is given, and refuses mail for `refused@…`. */
export async function startMail() {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onRcptTo({ address }, _, done) {
      const refusal = Object.assign(new Error("nobody here"), { responseCode: 550 });
      done(address.startsWith("refused@") ? refusal : null);
    },
    onData(stream, { envelope }, done) {
      let data = "";
      stream.on("data", (part) => {
        data += part;
      });
      stream.on("end", () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : "";
        received.push({ from, to: envelope.rcptTo.map(({ address }) => address), data });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as { port: number };
  const stop = () => new Promise<void>((resolve) => server.close(resolve));
  return { port, received, stop, [Symbol.asyncDispose]: stop };
}
