{{/* The name of the operator's objects: anamnesis-operator for a release named anamnesis. */}}
{{- define "anamnesis.name" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}-operator
{{- else -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}-anamnesis-operator
{{- end -}}
{{- end -}}

{{/* The name of the RoleBinding in each namespace of watch.namespaces. */}}
{{- define "anamnesis.namespacedBinding" -}}
{{ include "anamnesis.name" . }}-namespaced
{{- end -}}

{{/* The selector labels of the operator's pods. They must not change. */}}
{{- define "anamnesis.selector" -}}
app.kubernetes.io/name: anamnesis-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "anamnesis.labels" -}}
{{ include "anamnesis.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The reference of an image. The argument is a dict with the name of its value and the root context. */}}
{{- define "anamnesis.image" -}}
{{- with index .root.Values .value -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else if $.root.Values.requireDigests -}}
{{- fail (printf "%s.digest is missing: requireDigests wants the digest of %s, such as sha256:..., as `crane digest` prints it" $.value .repository) -}}
{{- else -}}
{{ .repository }}:{{ .tag | default $.root.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The operator's permissions for Instances and their objects, generated from its code. */}}
{{- define "anamnesis.rules" -}}
{{- (.Files.Get "files/role.yaml" | fromYaml).rules | toYaml -}}
{{- end -}}
