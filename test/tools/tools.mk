# Foreign programs of the test cluster. Each is built once per machine, from the exact
# version in a module of its own: build.sh keeps them outside of the checkout.
TOOLS := test/tools

CLUSTER_BINARIES := $(addprefix $(BIN)/,etcd kube-apiserver kube-controller-manager crossplane)

# version_of,<folder>,<module>: the version that a tool module requires.
version_of = $(shell awk '$$1 == "$(2)" {print $$2} $$1 == "require" && $$2 == "$(2)" {print $$3}' $(TOOLS)/$(1)/go.mod)

# build_tool,<folder>,<package>,<linker flags>,<compiler flags>
build_tool = GO=$(GO) $(TOOLS)/build.sh $@ $(TOOLS)/$(1) $(2) $(if $(4),$(4),-trimpath) -ldflags '$(strip -s -w $(3))'

$(BIN)/etcd: $(TOOLS)/etcd/go.mod
	$(call build_tool,etcd,go.etcd.io/etcd/server/v3)

# Without its version Kubernetes calls itself a placeholder, which clients
# compare with theirs.
KUBERNETES_LDFLAGS = $(addprefix -X k8s.io/component-base/version.,gitVersion=$(call version_of,kubernetes,k8s.io/kubernetes) gitMajor=1 \
	gitMinor=$(word 2,$(subst ., ,$(call version_of,kubernetes,k8s.io/kubernetes))))

# One program is the control plane, what runs on a node, and kubectl. It is linked once.
$(BIN)/kubernetes: $(TOOLS)/kubernetes/go.mod $(wildcard $(TOOLS)/kubernetes/*.go)
	$(call build_tool,kubernetes,.,$(KUBERNETES_LDFLAGS))

$(addprefix $(BIN)/,kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kube-network-policies kubectl): $(BIN)/kubernetes
	ln -sf kubernetes $@

# Answers names of a cluster. k8s.io/* is that of $(BIN)/kubernetes.
$(BIN)/coredns: $(TOOLS)/coredns/go.mod $(TOOLS)/coredns/main.go
	$(call build_tool,coredns,.)

# The RBAC manager has no flag for the address of its metrics, and would take
# port 8080 of all addresses. What the Helm chart and the image add to the
# binary lies in $(BIN)/crossplane.d. Crossplane is built as our programs are,
# without -trimpath, and its module requires the same versions of what both
# depend on: 1,080 of its 1,493 packages are compiled with our programs.
CROSSPLANE_LDFLAGS = -X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=$(call version_of,crossplane,github.com/crossplane/crossplane/v2) \
	-X sigs.k8s.io/controller-runtime/pkg/metrics/server.DefaultBindAddress=127.0.0.1:0

# What the Helm chart and the image have besides the program.
define CROSSPLANE_FILES
go mod download github.com/crossplane/crossplane/v2
module=$$(go list -m -f "{{.Dir}}" github.com/crossplane/crossplane/v2)
cp -r $$module/cluster/charts/crossplane "$$FILES_DIR/chart"
cp -r $$module/cluster/crds $$module/cluster/webhookconfigurations "$$FILES_DIR"
endef

$(BIN)/crossplane: export FILES = $(CROSSPLANE_FILES)
$(BIN)/crossplane: $(TOOLS)/crossplane/go.mod
	$(call build_tool,crossplane,github.com/crossplane/crossplane/v2/cmd/crossplane,$(CROSSPLANE_LDFLAGS),-trimpath=false)

# Crossplane's command-line interface, which function authors use: render, beta validate
# and beta trace. This is the last version in the module of Crossplane.
$(BIN)/crossplane-cli: $(TOOLS)/crossplane-cli/go.mod
	$(call build_tool,crossplane-cli,github.com/crossplane/crossplane/v2/cmd/crank,-X github.com/crossplane/crossplane/v2/internal/version.version=$(call version_of,crossplane-cli,github.com/crossplane/crossplane/v2))

# The Terraform-compatible program of the acceptance tests. Without its version
# it calls itself a pre-release, which provider constraints do not match.
$(BIN)/tofu: $(TOOLS)/tofu/go.mod
	$(call build_tool,tofu,github.com/opentofu/opentofu/cmd/tofu,-X github.com/opentofu/opentofu/version.dev=no)

# Writes the documentation of the Terraform provider.
$(BIN)/tfplugindocs: $(TOOLS)/tfplugindocs/go.mod
	$(call build_tool,tfplugindocs,github.com/hashicorp/terraform-plugin-docs/cmd/tfplugindocs)

# A real OpenAI-compatible server, which tests drive with the tiny model. Its
# engine is llama.cpp, in C++.
$(BIN)/ollama: $(TOOLS)/ollama/go.mod
	CGO_ENABLED=1 $(call build_tool,ollama,github.com/ollama/ollama)

# Installs the chart in tests, and renders package/install.yaml. It is built as our programs
# are, and requires their versions where it can, so that 445 of the 717 packages that it has
# from other modules are compiled with them and with Crossplane.
$(BIN)/helm: $(TOOLS)/helm/go.mod
	$(call build_tool,helm,helm.sh/helm/v3/cmd/helm,-X helm.sh/helm/v3/internal/version.version=$(call version_of,helm,helm.sh/helm/v3),-trimpath=false)

# The servers that the chart brings, in the versions that go.mod requires. Tests run the first
# within themselves, and the second with the arguments of the chart. Images need both.
$(BIN)/nats-server: go.mod
	$(GO) build -ldflags '-s -w' -o $@ github.com/nats-io/nats-server/v2

# The ingress controller of the node.
$(BIN)/skipper: $(TOOLS)/skipper/go.mod $(TOOLS)/skipper/main.go
	$(call build_tool,skipper,.)

# Changes code and runs the tests of its package, to find what no test holds.
$(BIN)/gremlins: $(TOOLS)/gremlins/go.mod
	$(call build_tool,gremlins,github.com/go-gremlins/gremlins/cmd/gremlins)

# Argo CD's application controller and repo server, and the kustomize that the repo server
# runs. What else it needs at run time lies in $(BIN)/argocd.d: its manifests, and on the
# PATH of the repo server the programs by their names. The module replaces versions by those
# of the Kubernetes tool, and is built with the same flags: 727 of its 1,500 packages are
# compiled with that tool.
ARGOCD_PROGRAMS := argocd-application-controller argocd-repo-server kustomize

define ARGOCD_FILES
go mod download github.com/argoproj/argo-cd/v3
module=$$(go list -m -f "{{.Dir}}" github.com/argoproj/argo-cd/v3)
mkdir "$$FILES_DIR/bin"
cp -r $$module/manifests/crds $$module/manifests/base/config "$$FILES_DIR"
cp $$module/hack/git-verify-wrapper.sh "$$FILES_DIR/bin"
chmod +x "$$FILES_DIR/bin/git-verify-wrapper.sh"
for program in $(ARGOCD_PROGRAMS); do ln -s ../../argocd "$$FILES_DIR/bin/$$program"; done
endef

$(BIN)/argocd: export FILES = $(ARGOCD_FILES)
$(BIN)/argocd: $(TOOLS)/argocd/go.mod $(TOOLS)/argocd/main.go
	$(call build_tool,argocd,.,-X github.com/argoproj/argo-cd/v3/common.version=$(patsubst v%,%,$(call version_of,argocd,github.com/argoproj/argo-cd/v3)))
