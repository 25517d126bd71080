package compose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
	"google.golang.org/protobuf/types/known/structpb"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/apis/prerequisites"
	"github.com/gorizond/koldun/functions/reason"
)

const (
	reqPrerequisites = "prerequisites"
	reqProvider      = "provider"
	reqProviders     = "providers"
	// retry is the time until Crossplane looks again for what is missing, if it does not
	// watch it.
	retry = 10 * time.Second
	// grant is the command that gives Crossplane its rights.
	grant = "kubectl apply --server-side -f package/rbac.yaml"
)

// surroundings are what is known of the cluster around the composite.
type surroundings struct {
	observed
	answer
	*requirements
	looked bool // Crossplane has looked for what the provider has found
	found  *prerequisites.Found
	// lacking are texts that each say what is missing, and the mend.
	lacking []string
	// blocks says that the claim cannot serve without something that is missing, and
	// delays that what is served already goes on without it.
	blocks, delays bool
}

// look asks for what the provider has found out about the cluster. Without
// Crossplane nothing is asked, and everything is taken to be there.
func (s *surroundings) look() {
	if !request.HasCapability(s.req, fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES) {
		return
	}
	var env struct {
		Data prerequisites.Found `json:"data"`
	}
	found, known := s.Require(reqPrerequisites, prerequisites.APIVersion, prerequisites.Kind, "", prerequisites.Name, &env)
	s.looked = known
	if found {
		s.found = &env.Data
	}
	s.checkProvider()
}

// lacks reports whether the cluster lacks what an object of that kind needs, which then
// must not be composed. An object that exists needs nothing more.
func (s *surroundings) lacks(name string, desired *structpb.Struct) bool {
	if s.Exists(name) {
		s.checkVolume(name)
		return false
	}
	apiVersion, kind := desired.GetFields()["apiVersion"].GetStringValue(), desired.GetFields()["kind"].GetStringValue()
	missing, optional := "", false
	if apiVersion == v1alpha1.APIVersion {
		missing = s.missingProvider()
	} else if need, ok := prerequisites.Of(apiVersion, kind); ok {
		optional = need.Optional
		object := fmt.Sprintf("%s %q", kind, desired.GetFields()["metadata"].GetStructValue().GetFields()["name"].GetStringValue())
		missing = missingKind(s.foundOf(need), need, object)
	}
	if missing != "" {
		s.lack(missing, !optional)
	}
	return missing != ""
}

// foundOf returns what is known of a kind. Before the provider has written what it finds, as
// for some seconds after its installation, Crossplane says whether the API server serves the
// kind of another project.
func (s *surroundings) foundOf(need prerequisites.Needed) prerequisites.Found {
	switch {
	case s.found != nil:
		return *s.found
	case s.looked && need.Of != "" && s.lacksKind(need.Name(), need.APIVersion(), need.Kind):
		return prerequisites.Found{Absent: []string{need.Name()}}
	}
	return prerequisites.Found{}
}

// lack notes what is missing, and whether the claim cannot serve without it.
func (s *surroundings) lack(missing string, blocks bool) {
	s.lacking = append(s.lacking, missing)
	s.blocks = s.blocks || blocks
}

// missingKind says why Crossplane cannot compose an object; empty if it can.
func missingKind(found prerequisites.Found, need prerequisites.Needed, object string) string {
	switch {
	case slices.Contains(found.Absent, need.Name()):
		return fmt.Sprintf("%s needs %s, which is not installed: %s", object, need.Of, need.Install)
	case slices.Contains(found.Forbidden, need.Name()):
		return fmt.Sprintf("%s needs rights on %s, which Crossplane does not have: %s", object, strings.TrimSuffix(need.Resource+"."+need.Group, "."), grant)
	}
	return ""
}

// checkVolume notes why a PersistentVolumeClaim that exists cannot get a volume.
func (s *surroundings) checkVolume(name string) {
	o := s.state.GetResources()[name].GetResource()
	if s.found == nil || o.GetFields()["kind"].GetStringValue() != "PersistentVolumeClaim" {
		return
	}
	spec, status := o.GetFields()["spec"].GetStructValue().GetFields(), o.GetFields()["status"].GetStructValue().GetFields()
	if status["phase"].GetStringValue() != "Pending" || spec["volumeName"].GetStringValue() != "" {
		return
	}
	claim := o.GetFields()["metadata"].GetStructValue().GetFields()["name"].GetStringValue()
	class, named := spec["storageClassName"]
	if named && class.GetStringValue() == "" {
		return // an administrator provides its PersistentVolume
	}
	if missing := missingClass(s.found.StorageClasses, claim, class.GetStringValue()); missing != "" {
		s.lack(missing, true)
	}
}

// missingClass says why no volume is made for a claim that has none; empty if there is
// no reason.
func missingClass(classes *prerequisites.StorageClasses, claim, class string) string {
	if classes == nil {
		return ""
	}
	others := "the cluster has none"
	if len(classes.Names) > 0 {
		others = "the cluster has " + strings.Join(classes.Names, ", ")
	}
	switch {
	case class == "" && classes.Default == "":
		return fmt.Sprintf("PersistentVolumeClaim %q names no StorageClass, and there is no default one: name one (%s), "+
			"or kubectl annotate storageclass NAME storageclass.kubernetes.io/is-default-class=true", claim, others)
	case class != "" && !slices.Contains(classes.Names, class):
		return fmt.Sprintf("PersistentVolumeClaim %q needs StorageClass %q, which does not exist: create it, or name another one (%s)", claim, class, others)
	}
	return ""
}

// report sets the condition Prerequisites. It sets Serving too if the claim cannot be
// served without what is missing, and that may appear before anything else has to be mended.
func (s *surroundings) report() {
	if len(s.lacking) == 0 {
		if conditionOf(s.state.GetComposite().GetResource(), v1.ConditionPrerequisites).Type != "" {
			s.True(v1.ConditionPrerequisites, reason.PrerequisitesMet, "What the object needs of the cluster is there")
		}
		return
	}
	s.Within(retry)
	slices.Sort(s.lacking)
	text := strings.Join(slices.Compact(s.lacking), "; ")
	s.False(v1.ConditionPrerequisites, reason.PrerequisiteMissing, "%s", text)
	if !s.blocks && !s.delays {
		return
	}
	for i, cond := range s.rsp.GetConditions() {
		if cond.GetType() != v1.ConditionServing {
			continue
		}
		if !s.blocks && cond.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE {
			return
		}
		if cond.GetStatus() == fnv1.Status_STATUS_CONDITION_FALSE && reason.Final(cond.GetReason()) {
			return
		}
		s.rsp.Conditions = slices.Delete(s.rsp.GetConditions(), i, i+1)
		break
	}
	s.False(v1.ConditionServing, reason.PrerequisiteMissing, "%s", text)
}
