package compose

import (
	"cmp"
	"fmt"
	"regexp"

	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

const notInstalled = "The provider ghcr.io/gorizond/koldun-provider is not installed: " +
	"kubectl apply --server-side -f package/install.yaml, and see kubectl get providers.pkg.crossplane.io"

// ofProvider matches the package of the provider, in any registry.
var ofProvider = regexp.MustCompile(`(^|/)koldun-provider([:@]|$)`)

// missingProvider says that the managed kinds do not exist; empty if they do, or if that
// is not known. What the provider has found, or a managed resource that exists, proves
// that they do.
func (s *surroundings) missingProvider() string {
	if !s.looked || s.found != nil {
		return ""
	}
	for _, r := range s.state.GetResources() {
		if r.GetResource().GetFields()["apiVersion"].GetStringValue() == v1alpha1.APIVersion {
			return ""
		}
	}
	if s.lacksKind(reqProvider, v1alpha1.APIVersion, v1alpha1.KindProviderConfigUsage) {
		return notInstalled
	}
	return ""
}

// checkProvider notes why the provider does not do its work. It asks for Providers only
// while a managed resource waits for it: nothing has to watch them, and no claim that is
// served depends on them.
func (s *surroundings) checkProvider() {
	if !s.waitsForProvider() {
		return
	}
	var all []*installed
	known := s.RequireAll(reqProviders, "pkg.crossplane.io/v1", "Provider", "", nil, func() any {
		all = append(all, &installed{})
		return all[len(all)-1]
	})
	if !known {
		return
	}
	s.Within(retry) // a provider that ends now is reported unhealthy later
	if problem := unhealthy(all); problem != "" {
		s.lack(problem, false)
		s.delays = true
	}
}

// waitsForProvider reports whether the provider has not looked at a composed resource
// yet, as is the case for a moment after each creation and change.
func (s *surroundings) waitsForProvider() bool {
	for _, r := range s.state.GetResources() {
		if o := r.GetResource(); o.GetFields()["apiVersion"].GetStringValue() == v1alpha1.APIVersion && unseen(o) {
			return true
		}
	}
	return false
}

// unseen reports whether no controller has looked at this generation of a managed
// resource.
func unseen(o *structpb.Struct) bool {
	meta := o.GetFields()["metadata"].GetStructValue().GetFields()
	synced := conditionOf(o, "Synced")
	return synced.Type == "" || synced.ObservedGeneration > 0 && synced.ObservedGeneration < int64(meta["generation"].GetNumberValue())
}

// installed is an object of kind Provider, as far as it is read.
type installed struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Package string `json:"package"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// unhealthy says why the provider does not run, and how to find out more; empty if it
// runs, or if that is not known yet.
func unhealthy(all []*installed) string {
	for _, p := range all {
		if !ofProvider.MatchString(p.Spec.Package) {
			continue
		}
		for _, kind := range []string{"Installed", "Healthy"} {
			for _, cond := range p.Status.Conditions {
				if cond.Type == kind && cond.Status == metav1.ConditionFalse {
					return fmt.Sprintf("The provider %q does not run: its condition %s is False: %s: "+
						"see kubectl describe providers.pkg.crossplane.io %s, and kubectl --namespace crossplane-system get deployments,pods",
						p.Name, kind, cmp.Or(cond.Message, cond.Reason), p.Name)
				}
			}
		}
		return ""
	}
	return notInstalled
}
