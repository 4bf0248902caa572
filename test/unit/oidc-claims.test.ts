import { describe, expect, test } from "@jest/globals";
import { claimWithoutRole, combine, mapRole, readProfile } from "../../services/identity/auth/oidc/claims.ts";

describe("the role", () => {
  const MAPPING = ["ops=admin", "staff=member", "a=b=admin"];
  test.each([
    ["of a value", { groups: ["staff"] }, "member"],
    ["of the higher of two", { groups: ["staff", "ops"] }, "admin"],
    ["of a text", { groups: "ops" }, "admin"],
    ["of a value with an equals sign", { groups: ["a=b"] }, "admin"],
    ["of no mapped value", { groups: ["guests"] }, null],
    ["of a part of a value, which is none", { groups: ["staff-of-another-company"] }, null],
    ["of another case, which is another value", { groups: ["OPS"] }, null],
    ["without the claim", {}, null],
    ["of other kinds of values", { groups: [{ name: "ops" }, null, 1, true] }, null],
    ["of an object", { groups: { ops: true } }, null],
    ["of the star, which a claim cannot name", { groups: ["*"] }, null],
  ])("%s", (_, claims, role) => expect(mapRole(claims, "groups", MAPPING)).toBe(role));

  test("of everybody is that of the star, unless a value gives a higher one", () => {
    expect(mapRole({}, "groups", ["*=member", "ops=admin"])).toBe("member");
    expect(mapRole({ groups: ["ops"] }, "groups", ["*=member", "ops=admin"])).toBe("admin");
  });

  test("is found by a path, or by a name with dots", () => {
    expect(mapRole({ realm_access: { roles: ["ops"] } }, "realm_access.roles", MAPPING)).toBe("admin");
    expect(mapRole({ "https://a.example/roles": ["ops"] }, "https://a.example/roles", MAPPING)).toBe("admin");
    expect(mapRole({ realm_access: null }, "realm_access.roles", MAPPING)).toBeNull();
    expect(mapRole({}, "constructor.name", ["Object=admin"])).toBeNull();
  });
});

test("a role is found by a path with a dot in a name", () => {
  const claims = { resource_access: { "shop.api": { roles: ["ops"] } }, "a.b": { c: "staff" } };
  const mapping = ["ops=admin", "staff=member"];
  expect(mapRole(claims, "resource_access.shop\\.api.roles", mapping)).toBe("admin");
  expect(mapRole(claims, "a\\.b.c", mapping)).toBe("member");
  expect(mapRole(claims, "resource_access.shop.api.roles", mapping)).toBeNull();
});

test.each([
  [{}, "absent"],
  [{ groups: null }, "absent"],
  [{ _claim_names: { groups: "src1" } }, "elsewhere"],
  [{ groups: { ops: {} } }, "not_text"],
  [{ groups: ["guests", 7] }, "not_text"],
  [{ groups: ["guests"] }, "unmapped"],
  [{ groups: [] }, "unmapped"],
])("%j gives no role, because the claim is %s", (claims, why) =>
  expect(claimWithoutRole(claims, "groups")).toBe(why),
);

test("a name is one line", () =>
  expect(readProfile({ sub: "1", name: "Ada\u001b]0;x\u0007\u202e" }).name).toBe("Ada ]0;x  "));

describe("the profile", () => {
  test("has the e-mail and whether it is verified from one source", () => {
    const verified = { email: "me@real.example", email_verified: true };
    expect(combine({ sub: "1", email: "you@other.example" }, verified)).toEqual({
      sub: "1",
      email: "you@other.example",
    });
    expect(combine({ sub: "1", email_verified: true }, { email: "you@other.example" })).toEqual({
      sub: "1",
      email: "you@other.example",
    });
    expect(combine({ sub: "1" }, verified)).toEqual({ sub: "1", ...verified });
  });

  test.each([
    [true, true],
    ["true", true],
    [false, false],
    ["false", false],
    [1, false],
    [undefined, false],
  ])("takes an e-mail for verified by %j: %j", (email_verified, expected) =>
    expect(readProfile({ sub: "1", email: "a@b.example", email_verified }).is_email_verified).toBe(expected),
  );

  test.each([
    ...["", "nobody", "a b@c.example", "a@b@c.example"],
    `${"a".repeat(250)}@b.example`,
    7,
    null,
    ["a@b.example"],
  ])("does not take %j for an e-mail", (email) => expect(readProfile({ sub: "1", email }).email).toBeNull());

  test("has a name, of at most 200 characters", () => {
    expect(readProfile({ sub: "1", name: " Ada " }).name).toBe("Ada");
    expect(readProfile({ sub: "1", preferred_username: "ada" }).name).toBe("ada");
    expect(readProfile({ sub: "1", name: "x".repeat(500) }).name).toHaveLength(200);
  });
});
