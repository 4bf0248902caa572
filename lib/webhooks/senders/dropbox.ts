import { hmacScheme } from "../schemes.ts";
import { parameter, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Dropbox",
  schemes: [hmacScheme("dropbox", { header: "X-Dropbox-Signature" })],
  secret: "In Dropbox: the app secret.",
  status: 200,
  // A notification names the accounts that changed, and nothing else.
  repeats: true,
  kind: "/list_folder/accounts/0",
  fields(look) {
    const subject = look("/list_folder/accounts/0");
    return { entity: subject && "files", action: "changed", subject };
  },
  handshake: {
    about: "`GET` with `challenge`, which is repeated",
    challenge(request) {
      const echo = parameter(request, "challenge", /^[\w=.-]{1,256}$/);
      return request.method === "GET" && echo !== null ? { echo } : null;
    },
  },
  sample: {
    payload: {
      list_folder: { accounts: ["dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc"] },
      delta: { users: [12345678] },
    },
    type: "files.changed",
  },
  // The body of https://www.dropbox.com/developers/reference/webhooks, whose secret is not published.
  vector: {
    secret: "an-app-secret-of-dropbox",
    body: '{"list_folder":{"accounts":["dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc"]},"delta":{"users":[12345678]}}',
    headers: { "X-Dropbox-Signature": "fa41a268108c8b2b7cde8c66f3d05ad1a7c2da9742f66e888e44fb525477ed05" },
  },
};
