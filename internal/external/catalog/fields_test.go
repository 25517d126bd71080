package catalog

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
)

// apiKinds are the managed resources of the API by their kinds.
func apiKinds(t *testing.T) map[string]reflect.Type {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	out := map[string]reflect.Type{}
	for kind, of := range s.KnownTypes(v1alpha1.GroupVersion) {
		if reflect.PointerTo(of).Implements(reflect.TypeFor[resource.ModernManaged]()) {
			out[kind] = of
		}
	}
	return out
}

func TestEntriesAreTheManagedKindsOfTheAPI(t *testing.T) {
	want := slices.Sorted(maps.Keys(apiKinds(t)))
	var got []string
	for _, e := range Entries() {
		got = append(got, e.Kind)
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the catalog has %v, want %v", got, want)
	}
}

// Specs and statuses are copied by the JSON names of their fields.
func TestFieldsAreThoseOfTheCRDs(t *testing.T) {
	kinds := apiKinds(t)
	for _, e := range Entries() {
		t.Run(e.Kind, func(t *testing.T) {
			spec, status := e.types()
			for _, c := range []struct {
				path []string
				of   reflect.Type
			}{{[]string{"Spec", "ForProvider"}, spec}, {[]string{"Status", "AtProvider"}, status}} {
				api := kinds[e.Kind]
				for _, name := range c.path {
					f, ok := api.FieldByName(name)
					if !ok {
						t.Fatalf("%s has no field %s", api, name)
					}
					api = f.Type
				}
				crd, client := map[string]string{}, map[string]string{}
				describe(t, crd, "", api)
				describe(t, client, "", c.of)
				for _, d := range differing(crd, client) {
					t.Errorf("%s and %s differ in %s", api, c.of, d)
				}
			}
		})
	}
}

func TestDifferingFieldsAreNamed(t *testing.T) {
	type inner struct {
		A string `json:"a"`
		B int    `json:"b,omitempty"`
	}
	type one struct {
		Inner []inner            `json:"inner"`
		Same  *metav1.Duration   `json:"same"`
		Map   map[string]string  `json:"map"`
		Time  *metav1.Time       `json:"time"`
		Only  bool               `json:"only"`
		Skip  string             `json:"-"`
		Kind  map[string]float64 `json:"kind"`
	}
	type innerToo struct {
		A string `json:"a"`
		B int64  `json:"bb"`
	}
	type other struct {
		Inner *[]innerToo        `json:"inner"`
		Same  *external.Duration `json:"same"`
		Map   map[string]string  `json:"map"`
		Time  *time.Time         `json:"time"`
		Kind  []string           `json:"kind"`
	}
	a, b := map[string]string{}, map[string]string{}
	describe(t, a, "", reflect.TypeFor[one]())
	describe(t, b, "", reflect.TypeFor[other]())
	want := []string{"inner[].b: integer and nothing", "inner[].bb: nothing and integer", "kind: map and list", "kind[]: nothing and string", "kind{}: number and nothing", "only: boolean and nothing"}
	if got := differing(a, b); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// describe notes the JSON type of each field below a path.
func describe(t *testing.T, out map[string]string, path string, of reflect.Type) {
	t.Helper()
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of {
	case reflect.TypeFor[metav1.Duration](), reflect.TypeFor[external.Duration]():
		out[path] = "duration"
		return
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[time.Time]():
		out[path] = "time"
		return
	case reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[map[string]any]():
		out[path] = "any object"
		return
	}
	switch of.Kind() {
	case reflect.Struct:
		if path != "" {
			out[path] = "object"
			path += "."
		}
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-" || !f.IsExported():
			case name == "" && f.Anonymous:
				describe(t, out, strings.TrimSuffix(path, "."), f.Type)
			case name == "":
				t.Errorf("%s.%s has no JSON name", of, f.Name)
			default:
				describe(t, out, path+name, f.Type)
			}
		}
	case reflect.Slice:
		out[path] = "list"
		describe(t, out, path+"[]", of.Elem())
	case reflect.Map:
		out[path] = "map"
		describe(t, out, path+"{}", of.Elem())
	case reflect.String:
		out[path] = "string"
	case reflect.Bool:
		out[path] = "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		out[path] = "integer"
	case reflect.Float64:
		out[path] = "number"
	default:
		t.Errorf("field %s has type %s, which this test does not know", path, of)
	}
}

// differing names the fields whose JSON types differ.
func differing(a, b map[string]string) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		x, y := a[path], b[path]
		if x == "" {
			x = "nothing"
		}
		if y == "" {
			y = "nothing"
		}
		if x != y {
			out = append(out, path+": "+x+" and "+y)
		}
	}
	return out
}
