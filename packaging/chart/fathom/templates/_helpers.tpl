{{- define "fathom.labels" -}}
app.kubernetes.io/name: fathom
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: agent
{{- end }}
