package nodes

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/internal/names"
)

// managers are the field managers of rules. A manager's name tells the other rules
// the priority of its rule; priority 0 has no suffix.
var managers = regexp.MustCompile(`^(koldun-[0-9a-f]{20})(?:-p(-?[0-9]{1,10}))?$`)

// base is the part of the names of the rule's field managers that no priority
// changes.
func (s Spec) base() string { return "koldun-" + names.Hash(20, s.Owner) }

// manager is the field manager of the rule with its priority.
func (s Spec) manager() string {
	if s.Priority == 0 {
		return s.base()
	}
	return s.base() + "-p" + strconv.Itoa(int(s.Priority))
}

// An owner is a field manager of a label.
type owner struct {
	manager  string
	base     string // "" if the manager is not that of a rule
	priority int64
}

func ownerOf(entry metav1.ManagedFieldsEntry) owner {
	out := owner{manager: entry.Manager}
	m := managers.FindStringSubmatch(entry.Manager)
	if m == nil || entry.Operation != metav1.ManagedFieldsOperationApply {
		return out
	}
	out.base = m[1]
	out.priority, _ = strconv.ParseInt(m[2], 10, 64) // none is 0
	return out
}

// labelOwners returns the owners of each label of a node.
func labelOwners(node *corev1.Node) map[string][]owner {
	out := map[string][]owner{}
	for _, entry := range node.ManagedFields {
		if entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				Labels map[string]json.RawMessage `json:"f:labels"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(entry.FieldsV1.Raw, &fields) != nil {
			continue
		}
		for key := range fields.Metadata.Labels {
			if name, ok := strings.CutPrefix(key, "f:"); ok {
				out[name] = append(out[name], ownerOf(entry))
			}
		}
	}
	return out
}

// outranks reports whether the rule may change a label with these owners: all are
// rules of a lower priority.
func (s Spec) outranks(owners []owner) bool {
	for _, o := range owners {
		if o.base == "" || o.priority >= int64(s.Priority) {
			return false
		}
	}
	return len(owners) > 0
}

// foreign returns the owners that are no field managers of the rule, whatever its
// priority was.
func (s Spec) foreign(owners []owner) []owner {
	return slices.DeleteFunc(slices.Clone(owners), func(o owner) bool { return o.base == s.base() })
}

// mayChange reports whether the rule may change the value of a label with these
// owners, and whether the API server lets it do so by force only: not if the rule's
// present field manager is the only owner.
func (s Spec) mayChange(owners []owner) (may, force bool) {
	if others := s.foreign(owners); len(others) > 0 || len(owners) == 0 {
		may = s.outranks(others)
		return may, may
	}
	return true, slices.ContainsFunc(owners, func(o owner) bool { return o.manager != s.manager() })
}
