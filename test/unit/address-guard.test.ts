import { describe, expect, test } from "@jest/globals";
import { AddressRefused, assertPublicUrl, isPublicAddress } from "../../connectors/address-guard.ts";
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
