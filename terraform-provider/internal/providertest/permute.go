package providertest

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// seedEnv names the variable with another seed of the permutations.
const seedEnv = "KOLDUN_SEED"

// Samples are valid values by attribute, for those whose schema does not imply
// one. An empty list leaves the attribute out.
type Samples map[string][]any

// Permutations returns at most limit valid configurations, which it derives from
// the schema. Two thirds set one optional attribute beside those of base, to the
// empty value if it is valid and to others. The rest set several at random. The
// seed is a constant of the type, unless KOLDUN_SEED sets it, and is logged.
func (x *Resource) Permutations(base map[string]any, samples Samples, limit int) []map[string]any {
	x.provider.t.Helper()
	seed := seedOf(x.Type)
	x.provider.t.Logf("%s: permutations of %s=%d", x.Type, seedEnv, seed)
	random := rand.New(rand.NewPCG(seed, seed))
	options := map[string][]any{}
	var names []string
	for _, a := range x.schema.Block.Attributes {
		if _, ok := base[a.Name]; ok || !a.Optional || a.WriteOnly {
			continue
		}
		values, ok := samples[a.Name]
		if !ok {
			for _, v := range candidates(a) {
				if x.Validate(with(base, a.Name, v)) == "" {
					values = append(values, v)
				}
			}
			if len(values) == 0 {
				x.provider.t.Errorf("%s: no value for %s is valid by itself: give samples", x.Type, a.Name)
			}
		}
		if len(values) > 0 {
			names, options[a.Name] = append(names, a.Name), values
		}
	}
	out := []map[string]any{base}
	for _, n := range names {
		for _, v := range options[n] {
			out = append(out, with(base, n, v))
		}
	}
	random.Shuffle(len(out)-1, func(i, j int) { out[i+1], out[j+1] = out[j+1], out[i+1] })
	alone := min(len(out), limit*2/3)
	out = out[:alone]
	for tries := 0; len(out) < limit && tries < 4*limit; tries++ {
		m := maps.Clone(base)
		for _, n := range names {
			if i := random.IntN(len(options[n]) * 2); i < len(options[n]) {
				m[n] = options[n][i]
			}
		}
		if x.Validate(m) == "" {
			out = append(out, m)
		}
	}
	x.provider.t.Logf("%s: %d of one attribute and %d of several", x.Type, alone, len(out)-alone)
	return out
}

func seedOf(name string) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(seedEnv), 10, 64); err == nil {
		return n
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64() % 1e6
}

func with(m map[string]any, name string, v any) map[string]any {
	out := maps.Clone(m)
	out[name] = v
	return out
}

var word = regexp.MustCompile("`([^`]+)`")

// candidates returns values that may be valid for an attribute, the empty one
// first.
func candidates(a *tfprotov6.SchemaAttribute) []any {
	if a.NestedType != nil {
		return within(a.NestedType)
	}
	return plain(a.Type, a.Description)
}

func plain(t tftypes.Type, description string) []any {
	switch x := t.(type) {
	case tftypes.List:
		return listOf(plain(x.ElementType, description))
	case tftypes.Set:
		return listOf(plain(x.ElementType, description))
	case tftypes.Map:
		out := []any{map[string]any{}}
		for _, v := range plain(x.ElementType, description) {
			out = append(out, map[string]any{"a": v})
		}
		return out
	}
	switch {
	case t.Is(tftypes.Bool):
		return []any{false, true}
	case t.Is(tftypes.Number):
		return []any{0, 1, 4096}
	}
	out := []any{"", "a", "90s", "1Gi"}
	if _, list, ok := strings.Cut(description, "One of "); ok {
		for _, m := range word.FindAllStringSubmatch(list, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

func listOf(values []any) []any {
	out := []any{[]any{}}
	for _, v := range values {
		out = append(out, []any{v})
	}
	return out
}

// within returns an empty object, and one for each candidate of each attribute.
func within(s *tfprotov6.SchemaObject) []any {
	out := []any{map[string]any{}}
	for _, a := range s.Attributes {
		for _, v := range candidates(a) {
			out = append(out, map[string]any{a.Name: v})
		}
	}
	if s.Nesting == tfprotov6.SchemaObjectNestingModeList || s.Nesting == tfprotov6.SchemaObjectNestingModeSet {
		return listOf(out)
	}
	return out
}
