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

{{/* The name of the RoleBinding in each namespace of an install for some. */}}
{{- define "anamnesis.namespacedBinding" -}}
{{ include "anamnesis.name" . }}-namespaced
{{- end -}}

{{/* The labels that select the operator's pods. They never change. */}}
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

{{/* The reference of an image: a dict of the name of its value and the root. */}}
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

{{/* What the operator may do with Instances and their objects, generated from its code. */}}
{{- define "anamnesis.rules" -}}
{{- (.Files.Get "files/role.yaml" | fromYaml).rules | toYaml -}}
{{- end -}}
