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

{{/* What all containers have in common. */}}
{{- define "sensorium.container" -}}
image: {{ include "sensorium.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - name: data
    mountPath: /data
  {{- if include "sensorium.caCertificates" . }}
  - name: ca
    mountPath: /etc/sensorium/ca
    readOnly: true
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Variables of every pod. Those of the values come first, so that settings can refer to them: $(POD_NAME). */}}
{{- define "sensorium.env" -}}
{{- $addresses := dict "MONGO_URL" .Values.mongodb.url "NATS_URL" .Values.nats.url "REDIS_URL" .Values.redis.url }}
{{- $own := dict }}
{{- range .Values.extraEnv }}
{{- $setting := and (hasKey $.Values.settings .name) (not (kindIs "invalid" (get $.Values.settings .name))) }}
{{- if or (hasKey $own .name) (get $addresses .name) $setting }}
{{- fail (printf "extraEnv sets %s, which other values set too: remove one of them." .name) }}
{{- end }}
{{- $own = set $own .name true }}
{{- end }}
{{- with .Values.extraEnv }}
{{- toYaml . }}
{{ end -}}
- name: HOST
  value: 0.0.0.0
- name: PORT
  value: "3000"
- name: DATA_DIR
  value: /data
{{- if include "sensorium.caCertificates" . }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/sensorium/ca/ca.crt
{{- end }}
{{- range $name := compact (.Files.Lines "secrets.txt") }}
{{- if get $addresses $name }}
- name: {{ $name }}
  value: {{ get $addresses $name | quote }}
{{- else if not (hasKey $own $name) }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.existingSecret | quote }}
      key: {{ $name }}
      {{- if not (has $name (list "MONGO_URL" "NATS_URL" "SECRET_KEY")) }}
      optional: true
      {{- end }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name }}
  value: {{ include "sensorium.text" $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where the certificates of private authorities are; nothing if there are none. */}}
{{- define "sensorium.caCertificates" -}}
{{- $items := list (dict "key" .Values.caCertificates.key "path" "ca.crt") }}
{{- with .Values.caCertificates }}
{{- if .secret }}
{{- toYaml (dict "secret" (dict "secretName" .secret "items" $items)) }}
{{- else if .configMap }}
{{- toYaml (dict "configMap" (dict "name" .configMap "items" $items)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The volumes of a pod. Of: root, and the volume of DATA_DIR, whose default is replaced by any other kind. */}}
{{- define "sensorium.volumes" -}}
{{- $data := index . 1 }}
{{- with index . 0 -}}
- name: data
  {{- toYaml (ternary (omit $data "emptyDir") $data (gt (len $data) 1)) | nindent 2 }}
{{- with include "sensorium.caCertificates" . }}
- name: ca
  {{- . | nindent 2 }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
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
