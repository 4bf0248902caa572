import { describe, expect, test } from "@jest/globals";
import { AddressRefused, assertPublicUrl, isPublicAddress } from "../../connectors/address-guard.ts";
import { credentialsFault, readCredentials } from "../../lib/http/address-credentials.ts";
import { networkOf } from "../../lib/http/network-address.ts";
import { resolveHost } from "../support/dns.ts";

const strict = { allowPrivate: false, resolve: async () => [{ address: "93.184.215.14" }] };

describe("isPublicAddress", () => {
  test.each([
    ...["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1"],
    ...["172.31.255.255", "192.168.1.1", "198.18.0.1", "192.0.2.1", "224.0.0.1", "255.255.255.255", "::"],
    ...["::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1"],
    ...["2002:7f00:1::", "2001:0:53aa:64c::", "2001:db8::1", "fc00::1", "fd12:3456::1", "fe80::1"],
    ...["fe80::1%eth0", "ff02::1", "localhost", ""],
  ])("%s is not", (address) => expect(isPublicAddress(address)).toBe(false));

  test.each([
    ...["8.8.8.8", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::6810:84e5", "2a00:1450:4001::1"],
  ])("%s is", (address) => expect(isPublicAddress(address)).toBe(true));
});

describe("assertPublicUrl", () => {
  test.each([
    ["http://127.0.0.1/", "127.0.0.1"],
    ["http://2130706433/", "127.0.0.1"],
    ["http://0x7f.1/", "127.0.0.1"],
    ["http://0177.0.0.1/", "127.0.0.1"],
    ["http://0/", "0.0.0.0"],
    ["http://127.1:8080/x", "127.0.0.1"],
    ["http://[::1]/", "::1"],
    ["http://[::ffff:10.0.0.1]/", "::ffff:a00:1"],
    ["http://[fe80::1]/", "fe80::1"],
    ["http://１２７.0.0.1/", "127.0.0.1"],
  ])("refuses %s and names the address", (url, address) =>
    expect(assertPublicUrl(url, strict)).rejects.toThrow(`${address} is not a public address`),
  );

  test.each([
    ["", "not a URL"],
    ["example.com/hook", "not a URL"],
    ["http://127.0.0.1:99999/", "expected http[s]://HOST or http[s]://HOST:PORT"],
    ["ftp://example.com/", "expected http:// or https://"],
    ["file:///etc/passwd", "expected http:// or https://"],
    ["https://user:secret@example.com/", "user name or password"],
  ])("refuses %s", (url, why) => expect(assertPublicUrl(url, strict)).rejects.toThrow(why));

  test("refuses a name when one of its addresses is private", async () => {
    const resolve = async () => [{ address: "93.184.215.14" }, { address: "10.1.2.3" }];
    const refused = assertPublicUrl("https://hooks.example/", { allowPrivate: false, resolve });
    await expect(refused).rejects.toThrow("hooks.example (10.1.2.3) is not a public address");
  });

  test("refuses localhost by what it really resolves to", () =>
    expect(assertPublicUrl("http://localhost:9/", { ...strict, resolve: resolveHost })).rejects.toThrow(
      AddressRefused,
    ));

  test("takes a public name, and one that does not resolve yet", async () => {
    await assertPublicUrl("https://example.com/hook?x=1", strict);
    const resolve = () => Promise.reject(new Error("ENOTFOUND"));
    await assertPublicUrl("https://soon.example/", { allowPrivate: false, resolve });
  });

  test("takes private addresses where they are allowed", async () => {
    await assertPublicUrl("http://127.0.0.1:9/", { ...strict, allowPrivate: true });
    await expect(assertPublicUrl("ftp://127.0.0.1/", { ...strict, allowPrivate: true })).rejects.toThrow(
      "http://",
    );
  });
});

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["::ffff:cb00:7109", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:db8:0:0:ffff::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["", "unknown"],
  ["nonsense", "unknown"],
])("the network of %s is %s", (address, network) => expect(networkOf(address)).toBe(network));

test.each([
  ...["amqps://user:p%2Fss%23w%3Fd%40@broker.example:5671/vhost%40x?heartbeat=3", "amqp://broker"],
  "redis+sentinel://:word@one:26379,two:26379/name?sentinel_password=p%40",
  ...["mongodb://u:p@a:27017,b:27018/d?replicaSet=rs", "nats://token@host:4222"],
  ...["https://hooks.example.com/@user?mail=a@b.example#c@d", "http://localhost/@x", "http://[::1]/@x"],
  "not an address",
])("the credentials of %s are read in one way", (address) => expect(credentialsFault(address)).toBeNull());

test.each([
  ...["amqp://user:a1#b2@broker.example", "amqp://user:a1?b2@broker.example"],
  ...["amqp://user:a1/b2@broker.example:5672/vhost", "amqp://user.name/b2@broker.example"],
  ...["amqps://us#er:a1@broker.example", "rediss://:a1/b2@cache.example:6380"],
  ...["smtp://sender@mail.example:a1#b2@relay.example", "mongodb+srv://user:a1/b2@cluster.example"],
  ...["https://user:77#b2@hooks.example.com/x", "https://token/b2@hooks.example.com/x"],
  ...["https://user:a1\\b2@hooks.example.com/x", "nats://user:a@b2@host:4222", "amqp://user:100%@host"],
  "amqp://user:a%FFb@host",
])("%s is refused with the escapes for its credentials, which are not repeated", (address) => {
  expect(credentialsFault(address)).toMatch(/# as %23, \/ as %2F, \? as %3F, @ as %40/);
  expect(credentialsFault(address)).not.toMatch(/b2|user/);
});

test("credentials are decoded", () => {
  expect(readCredentials(new URL("amqp://us%40er:p%2Fw@host"))).toEqual({
    username: "us@er",
    password: "p/w",
  });
  expect(readCredentials(new URL("redis://:w@host"))).toEqual({ password: "w" });
  expect(readCredentials(new URL("amqp://host"))).toEqual({});
});
