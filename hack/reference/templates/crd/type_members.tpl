{{- define "type_members" -}}
{{- if eq .Name "metadata" -}}
Kubernetes metadata.
{{- else -}}
{{ markdownRenderFieldDoc .Doc }}
{{- end -}}
{{- end -}}
