/** @needs nats: it is reached over TLS, by a user with the rights that docs/nats-and-mongodb.md names. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { START, startAlone } from "./support/alone.ts";
import { newCertificate } from "./support/certificate.ts";
import { startChild } from "./support/child.ts";
import { type NatsServer, startNats } from "./support/nats.ts";
import { onPath } from "./support/needs.ts";
import { ownFolder } from "./support/own-folder.ts";
import { settle } from "./support/settle.ts";

const PASSWORD = "p@ss/word";

(onPath("nats-server") ? describe : describe.skip)("a NATS with TLS", () => {
  let folder: string;
  let secure: NatsServer;
  let plain: NatsServer;
  const file = (name: string) => join(folder, name);
  const address = ({ url }: NatsServer) =>
    `tls://sensorium:${encodeURIComponent(PASSWORD)}@localhost:${new URL(url).port}`;

  beforeAll(async () => {
    folder = await ownFolder();
    const { cert, key } = newCertificate();
    await writeFile(file("cert.pem"), cert);
    await writeFile(file("key.pem"), key);
    const page = await readFile(join(import.meta.dirname, "../docs/nats-and-mongodb.md"), "utf8");
    const [block = ""] = /tls \{.*?\n {4}\}$/ms.exec(page) ?? [];
    const settings = block.replaceAll("/etc/nats", folder).replace("…", PASSWORD).split("\n");
    [secure, plain] = await Promise.all([startNats("12MB", settings), startNats()]);
  });
  afterAll(() => Promise.all([secure?.stop(), plain?.stop()]));

  test("nodes meet, if they trust its certificate", async () => {
    const env = { NATS_URL: address(secure), NODE_EXTRA_CA_CERTS: file("cert.pem"), EMBEDDER: "none" };
    await using one = await startAlone({ env });
    await using _other = await startAlone({ env });
    await settle(async () => /^sensorium_peers\{state="available"\} 1$/m.test(await one.metrics()));
    expect(one.logs()).not.toMatch(/permissions/i);
  });

  test.each([
    ["whose certificate is not trusted", () => secure, /self-signed certificate/],
    ["that has none", () => plain, /NATS offers no TLS, which tls:/],
  ])("a server is refused %s", async (_, server, reason) => {
    const { PATH = "" } = process.env;
    const env = { PATH, DATA_DIR: await ownFolder(), PORT: "0", NATS_URL: address(server()) };
    const node = await startChild(process.execPath, START, { env });
    await node.find(reason);
    await node.end("SIGTERM");
  });
});
