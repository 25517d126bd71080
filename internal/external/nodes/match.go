package nodes

import (
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/internal/fault"
)

// An Operator compares a label with values.
type Operator string

// The operators, as Kubernetes has them for the affinity of nodes.
const (
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
	In           Operator = "In"
	NotIn        Operator = "NotIn" // true of nodes without the label, too
	Gt           Operator = "Gt"    // whole numbers; false of what is none
	Lt           Operator = "Lt"
)

// An Expression compares one label of a node.
type Expression struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// check is an error of kind Invalid if the expression makes no sense.
func (e Expression) check() error {
	valid := e.Key != ""
	switch e.Operator {
	case Exists, DoesNotExist:
		valid = valid && len(e.Values) == 0
	case In, NotIn:
		valid = valid && len(e.Values) > 0
	case Gt, Lt:
		valid = valid && len(e.Values) == 1
		if valid {
			_, err := strconv.ParseInt(e.Values[0], 10, 64)
			valid = err == nil
		}
	default:
		return fault.Errorf(fault.Invalid, "operator %q is none of Exists, DoesNotExist, In, NotIn, Gt and Lt", e.Operator)
	}
	if !valid {
		return fault.Errorf(fault.Invalid, "the expression %s of label %q with values %q makes no sense", e.Operator, e.Key, e.Values)
	}
	return nil
}

// matches reports whether labels fulfil the expression.
func (e Expression) matches(labels map[string]string) bool {
	value, ok := labels[e.Key]
	switch e.Operator {
	case Exists:
		return ok
	case DoesNotExist:
		return !ok
	case In:
		return ok && slices.Contains(e.Values, value)
	case NotIn:
		return !ok || !slices.Contains(e.Values, value)
	case Gt, Lt:
		have, err := strconv.ParseInt(value, 10, 64)
		want, _ := strconv.ParseInt(e.Values[0], 10, 64) // checked before
		return ok && err == nil && (e.Operator == Gt && have > want || e.Operator == Lt && have < want)
	}
	return false
}

// check is an error of kind Invalid if the rule makes no sense, or wants what
// belongs to Kubernetes.
func (s Spec) check() error {
	if s.Owner == "" {
		return fault.Errorf(fault.Internal, "it has no owner")
	}
	if len(s.Labels) == 0 {
		return fault.Errorf(fault.Invalid, "it has no labels to give")
	}
	for key := range s.Labels {
		domain, _, prefixed := strings.Cut(key, "/")
		for _, theirs := range []string{"kubernetes.io", "k8s.io"} {
			if prefixed && (domain == theirs || strings.HasSuffix(domain, "."+theirs)) {
				return fault.Errorf(fault.Invalid, "label %q belongs to Kubernetes", key)
			}
		}
	}
	for _, e := range s.MatchExpressions {
		if err := e.check(); err != nil {
			return err
		}
	}
	for field, pattern := range s.NodeInfo {
		if _, ok := infoOf(&corev1.Node{})[field]; !ok {
			return fault.Errorf(fault.Invalid, "nodeInfo has no field %q", field)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return fault.Errorf(fault.Invalid, "the pattern %q of nodeInfo.%s is malformed", pattern, field)
		}
	}
	return nil
}

// matches reports whether a node, which counts as having these labels, fulfils all
// criteria.
func (s Spec) matches(node *corev1.Node, labels map[string]string) bool {
	for _, e := range s.MatchExpressions {
		if !e.matches(labels) {
			return false
		}
	}
	for key, value := range s.MatchLabels {
		if have, ok := labels[key]; !ok || have != value {
			return false
		}
	}
	for name, least := range s.Capacity {
		have, ok := node.Status.Capacity[corev1.ResourceName(name)]
		if !ok || have.Cmp(least) < 0 {
			return false
		}
	}
	info := infoOf(node)
	for field, pattern := range s.NodeInfo {
		if ok, err := path.Match(pattern, info[field]); !ok || err != nil {
			return false
		}
	}
	return true
}

// infoOf returns the system information of a node by the names of its fields.
func infoOf(node *corev1.Node) map[string]string {
	info := node.Status.NodeInfo
	return map[string]string{
		"architecture":            info.Architecture,
		"containerRuntimeVersion": info.ContainerRuntimeVersion,
		"kernelVersion":           info.KernelVersion,
		"kubeletVersion":          info.KubeletVersion,
		"operatingSystem":         info.OperatingSystem,
		"osImage":                 info.OSImage,
	}
}
