package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// phases records the phases of pool members, each change once. It is safe for
// concurrent use.
type phases struct {
	mu    sync.Mutex
	lives map[string][]string // phases by UID of the Pool and member
}

func newPhases() *phases { return &phases{lives: map[string][]string{}} }

// note records the status of a Pool.
func (p *phases) note(pool *unstructured.Unstructured) {
	members, _, _ := unstructured.NestedSlice(pool.Object, "status", "atProvider", "members")
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range members {
		member, ok := m.(map[string]any)
		if !ok {
			continue
		}
		key := fmt.Sprintf("%s/%s", pool.GetUID(), member["name"])
		phase := fmt.Sprint(member["phase"])
		if life := p.lives[key]; len(life) == 0 || life[len(life)-1] != phase {
			p.lives[key] = append(life, phase)
		}
	}
}

// changes returns the number of phase changes, without the first phase of each member.
func (p *phases) changes() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, life := range p.lives {
		n += len(life) - 1
	}
	return n
}

// lines returns the phases of each member.
func (p *phases) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for member, life := range p.lives {
		out = append(out, member+": "+strings.Join(life, ", "))
	}
	slices.Sort(out)
	return out
}

// backwards returns the members that returned to an earlier phase.
func (p *phases) backwards() (out []string) {
	order := []string{string(v1alpha1.PoolActive), string(v1alpha1.PoolDraining), string(v1alpha1.PoolDrained)}
	p.mu.Lock()
	defer p.mu.Unlock()
	for member, life := range p.lives {
		if !slices.IsSortedFunc(life, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) }) {
			out = append(out, member+": "+strings.Join(life, ", "))
		}
	}
	return out
}
