{{- define "gvDetails" -}}
{{- range .SortedTypes -}}{{- if .GVK }}
## {{ .Name }}
{{ template "type" . }}{{- end -}}{{- end }}
## Types
{{ range .SortedTypes -}}{{- if not .GVK -}}{{- if markdownShouldRenderType . }}
### {{ .Name }}
{{ template "type" . }}{{- end -}}{{- end -}}{{- end -}}
{{- end -}}
