import { given, isSecret, type Scheme, STANDARD_WEBHOOKS } from "../schemes.ts";
import { first, RECEIVED, type Sender } from "../sender.ts";

/** The secret token is sent as it is, so the other headers are as trustworthy as the body. */
const TOKEN: Scheme = {
  name: "gitlab_token",
  header: "X-Gitlab-Token",
  mismatch: "token does not match",
  read(request) {
    const id = given(request, "Idempotency-Key");
    const token = given(request, "X-Gitlab-Token");
    return { ...(id && { id }), signedBy: (secret) => (isSecret(secret, token) ? [request.body] : null) };
  },
};

export const sender: Sender = {
  title: "GitLab",
  schemes: [STANDARD_WEBHOOKS, TOKEN],
  delivery: "idempotency-key",
  kind: "/object_kind",
  fields: (look) => ({
    entity: first(look, "/object_kind", "/event_name"),
    action:
      first(
        look,
        "/object_attributes/action",
        "/action",
        "/object_attributes/status",
        "/build_status",
        "/status",
      ) ?? RECEIVED,
    subject: first(
      look,
      "/project/path_with_namespace",
      "/group/full_path",
      "/group_path",
      "/path_with_namespace",
    ),
    time: first(look, "/object_attributes/updated_at", "/object_attributes/finished_at"),
  }),
  sample: {
    payload: {
      object_kind: "issue",
      project: { path_with_namespace: "acme/app" },
      object_attributes: { iid: 12, action: "open" },
    },
    type: "issue.open",
  },
  vector: {
    secret: "a-secret-token-of-gitlab",
    body: "{}",
    headers: { "X-Gitlab-Token": "a-secret-token-of-gitlab" },
  },
};
