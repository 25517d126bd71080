{{/* Fails for values that the schema cannot refuse, and for a cluster that they do not fit. */}}
{{- define "koldun.check" -}}
{{- if and .Values.platform.singleTeam .Values.platform.claims }}
{{- fail "platform.singleTeam allows claims everything: remove platform.claims, or set platform.singleTeam=false" }}
{{- end }}
{{- if and .Values.nats.install (.Values.connection.nats | default dict).url }}
{{- fail "nats.install brings servers, and connection.nats.url names others: remove one of them" }}
{{- end }}
{{- if and .Values.s3.install (.Values.connection.s3 | default dict).endpoint }}
{{- fail "s3.install brings a server, and connection.s3.endpoint names another: remove one of them" }}
{{- end }}
{{- if .Values.nats.install }}
{{- with lookup "apps/v1" "StatefulSet" "nats" "nats" }}
{{- $have := int .spec.replicas }}
{{- $want := int $.Values.nats.replicas }}
{{- if or (lt $want $have) (and (eq $have 1) (gt $want 1)) }}
{{- fail (printf "nats.replicas is %d, and this cluster has %d: fewer servers would lose streams, and a single one cannot become several. Set nats.replicas=%d" $want $have $have) }}
{{- end }}
{{- end }}
{{- end }}
{{- /* Without a cluster, as in helm template, there are no namespaces. */ -}}
{{- if lookup "v1" "Namespace" "" "kube-system" }}
{{- $role := lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "crossplane" }}
{{- if .Values.crossplane.install }}
{{- $annotations := ($role.metadata | default dict).annotations | default dict }}
{{- /* Kubernetes may make the role anew, without labels, while a release is uninstalled: its rights are those of other roles. */ -}}
{{- if and ($role.metadata | default dict).labels (ne (index $annotations "meta.helm.sh/release-name" | default "") .Release.Name) }}
{{- fail "this cluster has Crossplane already: set crossplane.install=false, and crossplane.namespace if it is not crossplane-system" }}
{{- end }}
{{- else if not (.Capabilities.APIVersions.Has "pkg.crossplane.io/v1/Configuration") }}
{{- fail "this cluster has no Crossplane: set crossplane.install=true, or install Crossplane v2.4 or newer first" }}
{{- end }}
{{- with lookup "pkg.crossplane.io/v1" "Configuration" "" "koldun" }}
{{- $claims := contains "/koldun-configuration-claims" .spec.package }}
{{- if ne $claims (eq $.Values.flavour "claims") }}
{{- fail (printf "this cluster has the flavour %s, and flavour is %s: the flavours name the same kinds differently, so delete all claims and the Configuration koldun before you change it" (ternary "claims" "namespaced" $claims) $.Values.flavour) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
