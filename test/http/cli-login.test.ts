/** @needs python: it has pseudo-terminals. The questions of signing in on the command line. */
import { expect, test } from "@jest/globals";
import { newCli } from "../support/cli.ts";
import { api } from "../support/http.ts";
import { ok } from "../support/tenancy.ts";
import { openTerminal } from "../support/terminal.ts";
import { codeOf, wrongCode } from "../support/totp.ts";
import { use, useShared } from "../support/use.ts";

const server = await useShared();
const cli = use(newCli({ SENSORIUM_URL: server.root }));
const { email, password } = server.credentials.admin;
const { access_token } = ok(await api(server).post("/auth/login", { email, password }));
const own = api(server, access_token);
const { secret } = ok(await own.post("/auth/totp", { password }));
ok(await own.post("/auth/totp/confirm", { code: codeOf(secret) }));

test("asks for e-mail, password and code, and shows neither of the secrets it was given", async () => {
  const terminal = openTerminal(cli, ["login"]);
  await terminal.shows("E-mail: ");
  terminal.type(email);
  await terminal.shows("Password: ");
  terminal.type(password);
  await terminal.shows("Code of your authenticator app: ");
  // The current one was used to set it up.
  terminal.type(codeOf(secret, 1));
  const { code, shown } = await terminal.ended;
  expect(shown).toContain("Signed in as");
  expect(code).toBe(0);
  expect(shown).not.toContain(password);
  const { out } = await cli.run(["agent", "list", "--json"]);
  expect(JSON.parse(out)).toHaveLength(1);
});

test("says that a code is wrong, and signs nobody in", async () => {
  const terminal = openTerminal(cli, ["login", email, "--profile", "wrong"]);
  await terminal.shows("Password: ");
  terminal.type(password);
  await terminal.shows("Code of your authenticator app: ");
  terminal.type(wrongCode(secret));
  const { code, shown } = await terminal.ended;
  expect(code).toBe(1);
  expect(shown).toMatch(/code/i);
  expect((await cli.run(["profile", "list"])).out).not.toContain("wrong");
});

test("ends with Ctrl-C at a prompt", async () => {
  const terminal = openTerminal(cli, ["login", email]);
  await terminal.shows("Password: ");
  terminal.type("\x03");
  expect((await terminal.ended).code).not.toBe(0);
});

test("without a terminal it takes the code as an option, and says so where it is missing", async () => {
  const args = ["login", email, "--password-stdin", "--profile", "script"];
  const missing = await cli.run(args, { input: password });
  expect(missing.code).not.toBe(0);
  expect(missing.err).toContain("--code");
  expect(missing.out).toBe("");
});
