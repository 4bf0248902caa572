{{/*
A deployment of nodes, with its disruption budget and autoscaler. Of: root, component (its name and label), services,
drainSeconds, and node (replicas, resources, autoscaling, data).
*/}}
{{- define "sensorium.node" -}}
{{- $root := .root }}
{{- $name := printf "%s-%s" (include "sensorium.fullname" $root) .component }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "sensorium.nodeLabels" . | nindent 4 }}
spec:
  {{- if not .node.autoscaling.enabled }}
  replicas: {{ .node.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  # One after the other: the keys of a node that leaves move to the others.
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels:
      {{- include "sensorium.nodeSelector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "sensorium.nodeLabels" . | nindent 8 }}
        {{- with include "sensorium.texts" $root.Values.podLabels }}
        {{- . | nindent 8 }}
        {{- end }}
      {{- with include "sensorium.texts" $root.Values.podAnnotations }}
      annotations:
        {{- . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "sensorium.podSpec" $root | nindent 6 }}
      # The drain, 5 s in which a node stops, and as many to spare.
      terminationGracePeriodSeconds: {{ add .drainSeconds 30 }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "sensorium.nodeSelector" . | nindent 14 }}
      containers:
        - name: sensorium
          {{- include "sensorium.container" $root | nindent 10 }}
          env:
            {{- include "sensorium.env" $root | nindent 12 }}
            - name: SERVICES
              value: {{ join "," .services | quote }}
            - name: DRAIN_SECONDS
              value: {{ .drainSeconds | quote }}
          ports:
            - name: http
              containerPort: 3000
          # Until a node listens, for at most 5 minutes.
          startupProbe:
            httpGet: {path: /healthz, port: http}
            periodSeconds: 2
            timeoutSeconds: 3
            failureThreshold: 150
          livenessProbe:
            httpGet: {path: /healthz, port: http}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          # Each check of /readyz has 2 s.
          readinessProbe:
            httpGet: {path: /readyz, port: http}
            periodSeconds: 5
            timeoutSeconds: 3
            failureThreshold: 2
          resources:
            {{- toYaml .node.resources | nindent 12 }}
      volumes:
        {{- include "sensorium.volumes" (list $root .node.data) | nindent 8 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "sensorium.nodeLabels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "sensorium.nodeSelector" . | nindent 6 }}
{{- with .node.autoscaling }}
{{- if .enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels:
    {{- include "sensorium.nodeLabels" $ | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ $name }}
  minReplicas: {{ .minReplicas }}
  maxReplicas: {{ .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ .cpuUtilization }}
    {{- range $metric, $target := .podMetrics }}
    {{- if not (kindIs "invalid" $target) }}
    - type: Pods
      pods:
        metric:
          name: {{ $metric }}
        target:
          type: AverageValue
          averageValue: {{ include "sensorium.text" $target | quote }}
    {{- end }}
    {{- end }}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: 300
      policies:
        - type: Pods
          value: 1
          periodSeconds: 60
{{- end }}
{{- end }}
{{- end }}

{{- define "sensorium.nodeSelector" -}}
{{ include "sensorium.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "sensorium.nodeLabels" -}}
{{ include "sensorium.labels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}
