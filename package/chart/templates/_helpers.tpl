{{/* The namespace that Crossplane runs in. */}}
{{- define "koldun.crossplaneNamespace" -}}
{{- ternary .Release.Namespace .Values.crossplane.namespace .Values.crossplane.install -}}
{{- end }}

{{/* The name of the service account of Crossplane, as its chart has it. */}}
{{- define "koldun.crossplaneAccount" -}}
{{- $name := "crossplane" -}}
{{- if .Values.crossplane.install -}}
{{- $name = .Values.crossplane.nameOverride | default $name | trunc 63 | trimSuffix "-" -}}
{{- with .Values.crossplane.serviceAccount }}{{ if eq (toString .create) "false" }}{{ $name = .name }}{{ end }}{{ end -}}
{{- end -}}
{{- printf "%s/%s" (include "koldun.crossplaneNamespace" .) $name -}}
{{- end }}

{{/* The labels of all objects. */}}
{{- define "koldun.labels" -}}
app.kubernetes.io/name: koldun
{{- end }}

{{/* The annotations of an object that stays when the release is uninstalled. */}}
{{- define "koldun.keep" -}}
{{- if .Values.keep }}
  annotations:
    helm.sh/resource-policy: keep
{{- end }}
{{- end }}

{{/* An image: (dict "root" $ "name" NAME "repository" R "tag" TAG "digest" DIGEST). Without a tag it has the version of the chart, and the digest that it was published with. */}}
{{- define "koldun.image" -}}
{{- $digest := .digest -}}
{{- if not (or $digest .tag) }}{{ $digest = index (.root.Files.Get "files/digests.yaml" | fromYaml) .name }}{{ end -}}
{{- printf "%s:%s" .repository (.tag | default .root.Chart.AppVersion) }}{{ with $digest }}@{{ . }}{{ end -}}
{{- end }}

{{/* The image of pods that claims start. */}}
{{- define "koldun.podImage" -}}
{{- $i := .Values.image -}}
{{- include "koldun.image" (dict "root" . "name" "koldun" "repository" ($i.repository | default (printf "%s/koldun" .Values.packages.registry)) "tag" ($i.tag | default .Values.packages.tag) "digest" $i.digest) -}}
{{- end }}

{{/* The package NAME, as KEY of .Values.packages has it: (dict "root" $ "name" NAME "key" KEY). */}}
{{- define "koldun.package" -}}
{{- $p := .root.Values.packages -}}
{{- include "koldun.image" (merge (dict "repository" (printf "%s/%s" $p.registry .name) "tag" $p.tag "digest" (index $p .key).digest) .) -}}
{{- end }}

{{/* What the three packages have in common. */}}
{{- define "koldun.pull" -}}
packagePullPolicy: {{ .Values.packages.pullPolicy }}
{{- with .Values.packages.pullSecrets }}
packagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* "true" if a kind of the Prometheus operator is wanted: (dict "root" $ "when" WHEN). */}}
{{- define "koldun.monitored" -}}
{{- if or (eq .when "always") (and (eq .when "auto") (.root.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) }}true{{ end -}}
{{- end }}

{{/* What Go programs keep to, of a memory limit in Mi or Gi: nine tenths. */}}
{{- define "koldun.memoryLimit" -}}
{{- div (mul (regexFind "^[0-9]+" . | atoi) (ternary 1024 1 (hasSuffix "Gi" .)) 9) 10 -}}MiB
{{- end }}
