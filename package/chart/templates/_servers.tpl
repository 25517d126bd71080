{{/* Changes the StatefulSet of a server: (dict "values" .Values.nats "object" OBJECT "image" IMAGE). Prints nothing. */}}
{{- define "koldun.server" -}}
{{- $values := .values -}}
{{- $spec := .object.spec -}}
{{- $pod := $spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $claim := (first $spec.volumeClaimTemplates).spec -}}
{{- with $values.replicas }}{{ $_ := set $spec "replicas" . }}{{ end -}}
{{- with $values.storageClass }}{{ $_ := set $claim "storageClassName" . }}{{ end -}}
{{- with $values.size }}{{ $_ := set $claim.resources.requests "storage" . }}{{ end -}}
{{- if eq (toString $values.spread) "false" }}{{ $_ := unset $pod "affinity" }}{{ end -}}
{{- $_ := set $container "image" .image -}}
{{- with $values.resources -}}
{{- $_ := set $container "resources" . -}}
{{- $env := list -}}
{{- range $container.env }}{{ if ne .name "GOMEMLIMIT" }}{{ $env = append $env . }}{{ end }}{{ end -}}
{{- with (.limits | default dict).memory }}{{ $env = append $env (dict "name" "GOMEMLIMIT" "value" (include "koldun.memoryLimit" .)) }}{{ end -}}
{{- $_ := set $container "env" $env -}}
{{- end -}}
{{- end }}

{{/* Gives a pod of a server or its Job the credentials for their registry: (dict "values" .Values.nats "pod" SPEC). Prints nothing. */}}
{{- define "koldun.serverPull" -}}
{{- $secrets := list -}}
{{- range .values.pullSecrets }}{{ $secrets = append $secrets (dict "name" .) }}{{ end -}}
{{- if $secrets }}{{ $_ := set .pod "imagePullSecrets" $secrets }}{{ end -}}
{{- end }}

{{/* The image of a server: (dict "image" VALUES "default" REFERENCE). Another repository has the tag of the default. */}}
{{- define "koldun.serverImage" -}}
{{- $tag := regexFind "[^:/@]+(@.*)?$" .default -}}
{{- $repository := .default | trimSuffix (printf ":%s" $tag) -}}
{{- if or .image.tag .image.digest }}{{ $tag = .image.tag | default (regexReplaceAll "@.*$" $tag "") }}{{ with .image.digest }}{{ $tag = printf "%s@%s" $tag . }}{{ end }}{{ end -}}
{{- printf "%s:%s" (.image.repository | default $repository) $tag -}}
{{- end }}

{{/* The configuration of NATS servers: (dict "values" .Values.nats "config" TEXT). A single server has no cluster. JetStream may fill nine tenths of a volume. */}}
{{- define "koldun.natsConfig" -}}
{{- $config := .config -}}
{{- if eq (int .values.replicas) 1 -}}
{{- $config = regexReplaceAll "(?ms)^# Servers know each other.*?^}\n\n" $config "" -}}
{{- else -}}
{{- $routes := "" -}}
{{- range $i := until (int .values.replicas) }}{{ $routes = printf "%s    \"nats://nats-%d.nats-headless:6222\"\n" $routes $i }}{{ end -}}
{{- $config = regexReplaceAll "routes: \\[[^\\]]*\\]" $config (printf "routes: [\n%s  ]" $routes) -}}
{{- end -}}
{{- with .values.size -}}
{{- $config = regexReplaceAll "max_file_store: \\S+" $config (printf "max_file_store: %dMB" (div (mul (trimSuffix "Gi" . | atoi) 1024 9) 10)) -}}
{{- end -}}
{{- $config -}}
{{- end }}
