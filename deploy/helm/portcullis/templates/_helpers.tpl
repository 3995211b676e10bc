{{- define "portcullis.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 59 characters, so that -ops still fits into a name. */}}
{{- define "portcullis.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 59 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 59 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 59 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.selectorLabels" -}}
app.kubernetes.io/name: {{ include "portcullis.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels of pods: nothing that changes with the chart alone, or each new chart would replace the pods. */}}
{{- define "portcullis.podLabels" -}}
{{ include "portcullis.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "portcullis.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "portcullis.podLabels" . }}
{{- end -}}

{{- define "portcullis.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "portcullis.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "portcullis.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "portcullis.configMapName" -}}
{{- default (include "portcullis.fullname" .) .Values.existingConfigMap -}}
{{- end -}}

{{- define "portcullis.scheme" -}}
{{- if .Values.config.listener.tls }}https{{ else }}http{{ end -}}
{{- end -}}

{{/* A number that this chart has to know; call it with a dict of value and key. */}}
{{- define "portcullis.number" -}}
{{- if kindIs "string" .value -}}
{{- fail (printf "config.%s is %q: the chart computes with it, so it must be a number" .key .value) -}}
{{- end -}}
{{- int64 .value -}}
{{- end -}}

{{- define "portcullis.port" -}}
{{- $port := include "portcullis.number" (dict "value" .Values.config.listener.port "key" "listener.port") -}}
{{- if eq $port "0" -}}{{- fail "config.listener.port is 0: in a pod the port must be known" -}}{{- end -}}
{{- $port -}}
{{- end -}}

{{- define "portcullis.opsPort" -}}
{{- $port := include "portcullis.number" (dict "value" .Values.config.ops.port "key" "ops.port") -}}
{{- if eq $port "0" -}}{{- fail "config.ops.port is 0: in a pod the port must be known" -}}{{- end -}}
{{- $port -}}
{{- end -}}

{{/* Seconds that a termination takes at most, preStop included: preStop + drain_delay + drain_timeout + 5, rounded up. */}}
{{- define "portcullis.drainSeconds" -}}
{{- $limits := .Values.config.listener.limits -}}
{{- $delay := include "portcullis.number" (dict "value" $limits.drain_delay_ms "key" "listener.limits.drain_delay_ms") | int64 -}}
{{- $timeout := include "portcullis.number" (dict "value" $limits.drain_timeout_ms "key" "listener.limits.drain_timeout_ms") | int64 -}}
{{- add (int64 .Values.lifecycle.preStopSleepSeconds) (div (add $delay $timeout 999) 1000) 5 -}}
{{- end -}}

{{- define "portcullis.gracePeriod" -}}
{{- $given := .Values.terminationGracePeriodSeconds -}}
{{- if .Values.existingConfigMap -}}
{{- if kindIs "invalid" $given -}}
{{- fail "terminationGracePeriodSeconds must be set with existingConfigMap: preStop + drain_delay + drain_timeout + 5 seconds of that config" -}}
{{- end -}}
{{- int64 $given -}}
{{- else -}}
{{- $needed := include "portcullis.drainSeconds" . | int64 -}}
{{- if kindIs "invalid" $given -}}
{{- $needed -}}
{{- else if lt (int64 $given) $needed -}}
{{- $limits := .Values.config.listener.limits -}}
{{- fail (printf "terminationGracePeriodSeconds is %d, but a drain needs %d: lifecycle.preStopSleepSeconds %d s + drain_delay_ms %d + drain_timeout_ms %d + 5 s. Raise it, or lower config.listener.limits.drain_timeout_ms" (int64 $given) $needed (int64 .Values.lifecycle.preStopSleepSeconds) (int64 $limits.drain_delay_ms) (int64 $limits.drain_timeout_ms)) -}}
{{- else -}}
{{- int64 $given -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Mistakes that the schema cannot see. */}}
{{- define "portcullis.check" -}}
{{- if not .Values.existingConfigMap -}}
{{- if not .Values.config.routes -}}{{- fail "config.routes is empty: say what is served, or set existingConfigMap" -}}{{- end -}}
{{- if not .Values.config.ops.enabled | and (hasKey .Values.config.ops "enabled") -}}
{{- fail "config.ops.enabled is false: in a pod the probes need the ops listener" -}}
{{- end -}}
{{- range $key := list "listener" "ops" -}}
{{- $host := get (get $.Values.config $key) "host" -}}
{{- if or (eq $host "localhost") (eq $host "::1") (hasPrefix "127." $host) -}}
{{- fail (printf "config.%s.host is %s: other pods could not reach it; set 0.0.0.0" $key $host) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq (include "portcullis.port" .) (include "portcullis.opsPort" .) -}}
{{- fail "config.listener.port and config.ops.port are the same: probes and metrics never share the public port" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled -}}
{{- fail "metrics.serviceMonitor and metrics.podMonitor are both enabled: every pod would be scraped twice" -}}
{{- end -}}
{{- with .Values.podDisruptionBudget -}}
{{- if and .enabled (not (kindIs "invalid" .minAvailable)) (not (kindIs "invalid" .maxUnavailable)) -}}
{{- fail "podDisruptionBudget: only one of minAvailable and maxUnavailable can be set; set the other to null" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Hosts of the HTTPRoute or Ingress as a JSON list: those given, else the host of the public URL. Call it with a dict of hosts, key and root. */}}
{{- define "portcullis.hosts" -}}
{{- $url := default "" .root.Values.config.listener.public_url -}}
{{- if .hosts -}}
{{- toJson .hosts -}}
{{- else if or (eq $url "") (contains "${" $url) -}}
{{- fail (printf "%s is empty and config.listener.public_url names no host: say which host clients dial" .key) -}}
{{- else -}}
{{- list (regexReplaceAll ":[0-9]+$" (urlParse $url).host "") | toJson -}}
{{- end -}}
{{- end -}}

{{/* What clients dial for a route: its own URL, else the base followed by the path. Call it with a dict of route and base. */}}
{{- define "portcullis.routeUrl" -}}
{{- default (printf "%s%s" .base (trimSuffix "/" .route.path)) .route.public_url -}}
{{- end -}}

{{/* What a restart puts in force; a change of it replaces the pods. */}}
{{- define "portcullis.restartKeys" -}}
{{- $listener := .Values.config.listener -}}
{{- dict "listener" (dict "host" $listener.host "port" $listener.port "keep_alive" $listener.keep_alive "tls" $listener.tls "limits" $listener.limits) "ops" .Values.config.ops "telemetry" .Values.config.telemetry "reload" .Values.config.reload | toJson -}}
{{- end -}}
