import { expect, test } from "@jest/globals";
import { credentialsFault, readCredentials } from "../../lib/http/address-credentials.ts";

test.each([
  ...["amqps://user:p%2Fss%23w%3Fd%40@broker.example:5671/vhost%40x?heartbeat=3", "amqp://broker"],
  "redis+sentinel://:word@one:26379,two:26379/name?sentinel_password=p%40",
  ...["mongodb://u:p@a:27017,b:27018/d?replicaSet=rs", "nats://token@host:4222"],
  ...["https://hooks.example.com/@user?mail=a@b.example#c@d", "http://localhost/@x", "http://[::1]/@x"],
  "not an address",
])("%s is read in one way", (address) => expect(credentialsFault(address)).toBeNull());

test.each([
  ...["amqp://user:a1#b2@broker.example", "amqp://user:a1?b2@broker.example"],
  ...["amqp://user:a1/b2@broker.example:5672/vhost", "amqp://user.name/b2@broker.example"],
  ...["amqps://us#er:a1@broker.example", "rediss://:a1/b2@cache.example:6380"],
  ...["smtp://sender@mail.example:a1#b2@relay.example", "mongodb+srv://user:a1/b2@cluster.example"],
  ...["https://user:77#b2@hooks.example.com/x", "https://token/b2@hooks.example.com/x"],
  ...["https://user:a1\\b2@hooks.example.com/x", "nats://user:a@b2@host:4222", "amqp://user:100%@host"],
  "amqp://user:a%FFb@host",
])("%s is refused with the escapes, and not repeated", (address) => {
  expect(credentialsFault(address)).toMatch(/# as %23, \/ as %2F, \? as %3F, @ as %40/);
  expect(credentialsFault(address)).not.toMatch(/b2|user/);
});

test("are decoded", () => {
  expect(readCredentials(new URL("amqp://us%40er:p%2Fw@host"))).toEqual({
    username: "us@er",
    password: "p/w",
  });
  expect(readCredentials(new URL("redis://:w@host"))).toEqual({ password: "w" });
  expect(readCredentials(new URL("amqp://host"))).toEqual({});
});
