{{- define "sensorium.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "sensorium.fullname" -}}
{{- $name := include "sensorium.name" . }}
{{- $default := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $default .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Labels that select the pods of all nodes and jobs. */}}
{{- define "sensorium.selector" -}}
app.kubernetes.io/name: {{ include "sensorium.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "sensorium.labels" -}}
{{ include "sensorium.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "sensorium.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{/* A scalar as text. A number of a values file is a float, which would be written as 1.048576e+06. */}}
{{- define "sensorium.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ . | int64 }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/* Labels, annotations and the like: Kubernetes takes texts alone, and null takes one out. Nothing if none is left. */}}
{{- define "sensorium.texts" -}}
{{- $texts := dict }}
{{- range $name, $value := . }}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $texts $name (include "sensorium.text" $value) }}{{ end }}
{{- end }}
{{- with $texts }}{{ toYaml . }}{{ end }}
{{- end }}

{{/* What all pods have in common: no rights, no access to the API, no variables for the services of the namespace. */}}
{{- define "sensorium.podSpec" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  # The user `node` of the image.
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with include "sensorium.texts" .Values.nodeSelector }}
nodeSelector:
  {{- . | nindent 2 }}
{{- end }}
{{- range $field := list "tolerations" "affinity" }}
{{- with index $.Values $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "sensorium.container" -}}
image: {{ include "sensorium.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* Settings of every node. */}}
{{- define "sensorium.env" -}}
- name: HOST
  value: 0.0.0.0
- name: PORT
  value: "3000"
- name: DATA_DIR
  value: /data
{{- $addresses := dict "MONGO_URL" .Values.mongodb.url "NATS_URL" .Values.nats.url "REDIS_URL" .Values.redis.url }}
{{- range $name, $url := $addresses }}
{{- if $url }}
- name: {{ $name }}
  value: {{ $url | quote }}
{{- else }}
{{- include "sensorium.secret" (list $ $name (eq $name "REDIS_URL")) }}
{{- end }}
{{- end }}
{{- include "sensorium.secret" (list $ "SECRET_KEY" false) }}
{{- range $name := list "DOCUMENT_CONVERTER_API_KEY" "EMBEDDER_API_KEY" "METRICS_TOKEN" "METRICS_TOKEN_FALLBACKS" "OIDC_CLIENT_SECRET" "OPERATOR_TOKEN" "OPERATOR_TOKEN_FALLBACKS" "RERANKER_API_KEY" "SECRET_KEY_FALLBACKS" "SMTP_URL" }}
{{- include "sensorium.secret" (list $ $name true) }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name }}
  value: {{ include "sensorium.text" $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "sensorium.secret" }}
{{- $optional := index . 2 }}
{{- $name := index . 1 }}
{{- with index . 0 }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ .Values.existingSecret | quote }}
      key: {{ $name }}
      {{- if $optional }}
      optional: true
      {{- end }}
{{- end }}
{{- end }}

{{/* The services that a group runs, as JSON: its names, or all but those with `-`. */}}
{{- define "sensorium.servicesOf" -}}
{{- $root := index . 0 }}
{{- $given := index . 1 }}
{{- $left := list }}
{{- range $given }}{{ if hasPrefix "-" . }}{{ $left = append $left (trimPrefix "-" .) }}{{ end }}{{ end }}
{{- $runs := $given }}
{{- if $left }}
{{- $runs = list }}
{{- range $root.Files.Lines "services.txt" }}{{ if and . (not (has . $left)) }}{{ $runs = append $runs . }}{{ end }}{{ end }}
{{- end }}
{{- toJson $runs }}
{{- end }}

{{/* Fails unless the groups together run every service but the gateway: no node would ever be ready. */}}
{{- define "sensorium.checkGroups" -}}
{{- $runs := list "gateway" }}
{{- range $group, $values := .Values.workers }}
{{- $own := include "sensorium.servicesOf" (list $ $values.services) | fromJsonArray }}
{{- if has "gateway" $own }}
{{- fail (printf "workers.%s.services runs the gateway, which has a deployment of its own: add -gateway." $group) }}
{{- end }}
{{- $runs = concat $runs $own }}
{{- end }}
{{- range .Files.Lines "services.txt" }}
{{- if and . (not (has . $runs)) }}
{{- fail (printf "no group of workers runs %s: every service must run on some node." .) }}
{{- end }}
{{- end }}
{{- end }}
