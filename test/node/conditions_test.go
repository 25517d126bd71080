package node_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/waittest"
)

// object returns a claim without content.
func object(ns, name, kind string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("koldun.gorizond.io/v1")
	o.SetKind(kind)
	o.SetNamespace(ns)
	o.SetName(name)
	return o
}

// tells waits until the condition Serving of a claim is as wanted, and returns its reason and
// message.
func (cl *claims) tells(ctx context.Context, ns, name, kind string, wanted func(status, reason, message string) bool) (told string, err error) {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(5*time.Minute))
	defer cancel()
	err = cluster.Poll(ctx, func(ctx context.Context) error {
		o := object(ns, name, kind)
		if err := cl.Client().Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			c, _ := c.(map[string]any)
			if c["type"] != "Serving" {
				continue
			}
			status, reason, message := fmt.Sprint(c["status"]), fmt.Sprint(c["reason"]), fmt.Sprint(c["message"])
			if told = reason + ": " + message; !wanted(status, reason, message) {
				return fmt.Errorf("the condition Serving is %s, %s", status, told)
			}
			return nil
		}
		return errors.New("there is no condition Serving")
	})
	return told, err
}
