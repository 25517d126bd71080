// Package validation validates objects as an API server with Koldun's CRDs does:
// it refuses unknown fields, fills in defaults, and checks schemas and rules.
//
// It uses the API server's code, so koldun render, koldun up and a cluster accept
// the same claims.
package validation

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"sort"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gorizond/koldun/apis/crds"
)

// rules are the schema and the rules of one kind.
type rules struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
	cel        *cel.Validator
}

// Schemas checks objects of all kinds. It is safe for concurrent use.
type Schemas struct {
	// kinds compile the rules of a kind on first use, by apiVersion + "/" + kind:
	// most programs check few kinds.
	kinds map[string]func() (*rules, error)
	// cluster has the cluster-scoped kinds.
	cluster map[string]bool
}

// Load reads the embedded CRDs.
func Load() (*Schemas, error) {
	s := &Schemas{kinds: map[string]func() (*rules, error){}, cluster: map[string]bool{}}
	files, err := fs.Glob(crds.Files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot list CRDs: %w", err)
	}
	for _, name := range files {
		crd, err := crds.Definition(name)
		if err != nil {
			return nil, err
		}
		for _, v := range crd.Spec.Versions {
			key := crd.Spec.Group + "/" + v.Name + "/" + crd.Spec.Names.Kind
			s.cluster[key] = crd.Spec.Scope == extv1.ClusterScoped
			s.kinds[key] = sync.OnceValues(func() (*rules, error) {
				k, err := compile(v.Schema.OpenAPIV3Schema)
				if err != nil {
					return nil, fmt.Errorf("cannot use CRD %q: %w", name, err)
				}
				return k, nil
			})
		}
	}
	return s, nil
}

func compile(props *extv1.JSONSchemaProps) (*rules, error) {
	var internal apiextensions.JSONSchemaProps
	// The conversion shares memory with props, which are not ours.
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props.DeepCopy(), &internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, err
	}
	return &rules{structural: structural, validator: validator, cel: cel.NewValidator(structural, true, celCostLimit)}, nil
}

// celCostLimit is the API server's limit for the rules of one object.
const celCostLimit = 100_000_000

// Known returns the kinds as apiVersion/kind, sorted.
func (s *Schemas) Known() []string {
	out := make([]string, 0, len(s.kinds))
	for k := range s.kinds {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// Has reports whether the kind is known.
func (s *Schemas) Has(apiVersion, kind string) bool {
	_, ok := s.kinds[apiVersion+"/"+kind]
	return ok
}

// ClusterScoped reports whether objects of the kind have no namespace; false for an
// unknown kind.
func (s *Schemas) ClusterScoped(apiVersion, kind string) bool { return s.cluster[apiVersion+"/"+kind] }

// Default fills in the defaults of the object's schema, in place. It does not
// change objects of unknown kinds.
func (s *Schemas) Default(obj map[string]any) {
	if k, err := s.rulesOf(obj); err == nil {
		defaulting.Default(obj, k.structural)
	}
}

// Check fills in defaults, in place, and returns one error that names the fields
// of all violations: unknown and missing fields, wrong types and values, violated
// rules. An object of an unknown kind is an error.
func (s *Schemas) Check(ctx context.Context, obj map[string]any) error {
	errs, err := s.Violations(ctx, obj, true)
	if err != nil {
		return err
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%s", text(errs))
}

// Violations is like Check with one error for each field. Without rules it checks
// only schemas, for incomplete objects.
func (s *Schemas) Violations(ctx context.Context, obj map[string]any, withRules bool) (field.ErrorList, error) {
	k, err := s.rulesOf(obj)
	if err != nil {
		return nil, err
	}
	integers(obj)
	var errs field.ErrorList
	errs = append(errs, checkMeta(obj)...)
	pruned := runtime.DeepCopyJSON(obj)
	for _, path := range pruning.PruneWithOptions(pruned, k.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		errs = append(errs, field.Invalid(field.NewPath(path), "", "unknown field"))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, k.structural)
	defaulting.Default(obj, k.structural)
	invalid := validation.ValidateCustomResource(nil, obj, k.validator)
	errs = append(errs, invalid...)
	if withRules && len(invalid) == 0 && k.cel != nil {
		broken, _ := k.cel.Validate(ctx, nil, k.structural, obj, nil, math.MaxInt64)
		errs = append(errs, broken...)
	}
	return errs, nil
}

func (s *Schemas) rulesOf(obj map[string]any) (*rules, error) {
	apiVersion, _ := obj["apiVersion"].(string)
	kind, _ := obj["kind"].(string)
	compiled, ok := s.kinds[apiVersion+"/"+kind]
	if !ok {
		return nil, fmt.Errorf("kind %q of apiVersion %q is not known; known are: %s", obj["kind"], obj["apiVersion"], strings.Join(s.Known(), ", "))
	}
	return compiled()
}

// DottedNames reports whether names of a kind may have dots, as names of models do. The
// names of what such objects compose are derived.
func DottedNames(kind string) bool {
	return kind == "AIModelMap" || kind == "AIDeployment"
}

func checkMeta(obj map[string]any) field.ErrorList {
	path := field.NewPath("metadata")
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		return field.ErrorList{field.Required(path, "an object needs a name")}
	}
	name, _ := meta["name"].(string)
	if name == "" {
		return field.ErrorList{field.Required(path.Child("name"), "")}
	}
	var errs field.ErrorList
	valid := apimachineryvalidation.NameIsDNSLabel
	if kind, _ := obj["kind"].(string); DottedNames(kind) {
		valid = apimachineryvalidation.NameIsDNSSubdomain
	}
	for _, msg := range valid(name, false) {
		errs = append(errs, field.Invalid(path.Child("name"), name, msg))
	}
	if ns, ok := meta["namespace"].(string); ok {
		for _, msg := range apimachineryvalidation.ValidateNamespaceName(ns, false) {
			errs = append(errs, field.Invalid(path.Child("namespace"), ns, msg))
		}
	}
	return errs
}

// integers converts whole numbers to the type that an API server decodes, which
// rules distinguish from other numbers.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			v[k] = integers(child)
		}
	case []any:
		for i, child := range v {
			v[i] = integers(child)
		}
	case float64:
		if n := int64(v); float64(n) == v {
			return n
		}
	}
	return v
}

// text returns the distinct violations, sorted by field.
func text(errs field.ErrorList) string {
	lines := make([]string, 0, len(errs))
	for _, e := range errs {
		line := e.Error()
		if e.Type == field.ErrorTypeInvalid && e.Detail == "unknown field" {
			line = e.Field + ": unknown field"
		}
		lines = append(lines, line)
	}
	sort.Strings(lines)
	out := lines[:0]
	for i, l := range lines {
		if i == 0 || !equality.Semantic.DeepEqual(l, lines[i-1]) {
			out = append(out, l)
		}
	}
	return strings.Join(out, "; ")
}
