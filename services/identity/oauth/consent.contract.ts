import { Type } from "typebox";
import { SCOPES } from "../../../lib/access/caller.ts";
import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id } from "../../../lib/contract/schema.ts";
import { ClientId, ORIGIN, uri } from "./oauth.contract.ts";

const Query = Type.String({
  minLength: 1,
  maxLength: 8192,
  description:
    "The query of the authorization request as the client sent it, or `user_code=` and a device's code.",
  examples: [
    "response_type=code&client_id=0199c0de-7a11&redirect_uri=http%3A%2F%2F127.0.0.1%3A8123%2Fcallback",
  ],
});
const Scopes = Type.Array(oneOf(SCOPES), { minItems: 1, uniqueItems: true });

export const readOauthRequest = operation({
  action: "oauth.read_request",
  route: "POST /oauth/request",
  summary: "Read what a client asks a person to approve",
  description:
    "For the console's page. An unknown client and a redirect URI that it has not registered are refused. Other " +
    "mistakes are in `refusal`, with the address that reports them to the client.",
  access: { by: "user" },
  audit: false,
  reads: true,
  origin: true,
  body: { query: Query },
  answer: Type.Object(
    {
      client: Type.Object({
        id: ClientId,
        name: Type.String({ description: "As the client calls itself.", examples: ["Editor"] }),
        uri: nullable(Type.String({ description: "Its page.", examples: [ORIGIN] })),
        host: nullable(
          Type.String({
            description:
              "The host that vouches for it; null if none does, as for every device: a client's id is no secret.",
          }),
        ),
      }),
      redirect_to: nullable(
        Type.String({
          description: "Host, or scheme of an app, that the answer goes to; null for a device.",
          examples: ["127.0.0.1"],
        }),
      ),
      redirect_kind: nullable(
        oneOf(["computer", "app", "site"], {
          description:
            "`computer`: a program on the person's computer. `app`: an app that has claimed the scheme. Null for a device.",
        }),
      ),
      user_code: nullable(
        Type.String({
          description: "A device's code, to compare with the one it shows.",
          examples: ["BCDF-2345"],
        }),
      ),
      resource: uri("What the client wants to use.", "/mcp"),
      scopes: Type.Array(oneOf(SCOPES), { description: "Requested scopes that the person may grant." }),
      refusal: nullable(
        Type.Object({
          error: Type.String({ examples: ["invalid_scope"] }),
          error_description: Type.String(),
          redirect_uri: Type.String({ description: "Reports it to the client." }),
        }),
      ),
    },
    { title: "AuthorizationRequest" },
  ),
  errors: ["validation_error", "not_found"],
});

export const decideOauthRequest = operation({
  action: "oauth.decide",
  route: "POST /oauth/decision",
  summary: "Approve or deny a client's request",
  description:
    "Approved, the client acts as the agent, with the chosen scopes. For the agent's owner and org admins. The answer " +
    "says where to send the browser; null for a device, which asks by itself.",
  access: { by: "user" },
  origin: true,
  overQuota: true,
  body: {
    query: Query,
    decision: oneOf(["approve", "deny"], { description: "The decision." }),
    agent_id: Type.Optional(Id("ag", "The agent that the client acts as. Required to approve.")),
    scopes: Type.Optional({ ...Scopes, description: "Granted scopes. Default: all that were requested." }),
  },
  answer: Type.Object({
    redirect_uri: nullable(Type.String({ description: "With the code, or the refusal, for the client." })),
  }),
  errors: ["insufficient_scope", "not_found", "conflict"],
  secret: true,
});
