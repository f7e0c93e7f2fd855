{{- define "type" }}
{{ .Doc }}
{{ if .IsAlias }}
A {{ markdownRenderTypeLink .UnderlyingType }}.
{{- range .Validation }} {{ . }}.{{ end }}
{{ end }}
{{- if .SortedReferences }}
Appears in: {{ range $i, $reference := .SortedReferences }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $reference }}{{ end }}.
{{ end }}
{{- if .Members }}
| field | description | default | validation |
|---|---|---|---|
{{ if .GVK -}}
| `apiVersion` _string_ | `{{ .GVK.Group }}/{{ .GVK.Version }}` | | |
| `kind` _string_ | `{{ .GVK.Kind }}` | | |
{{ end -}}
{{ range .Members -}}
| `{{ .Name }}` _{{ markdownRenderType .Type }}_ | {{ template "type_members" . }} | {{ markdownRenderDefault .Default }} | {{ range $i, $rule := .Validation }}{{ if $i }}, {{ end }}{{ markdownRenderFieldDoc $rule }}{{ end }} |
{{ end }}
{{- end }}
{{- if .EnumValues }}
| value | meaning |
|---|---|
{{ range .EnumValues -}}
| `{{ .Name }}` | {{ markdownRenderFieldDoc .Doc }} |
{{ end }}
{{- end }}
{{- end -}}
