package prerequisites

import (
	"errors"
	"slices"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/gorizond/koldun/apis/prerequisites"
)

// Rights are reviewed once a minute, or as soon as another kind exists or while one is
// missing. An error does not make missing rights good.
func TestReview(t *testing.T) {
	lacks, broken, reviews := "", false, 0
	clients := fake.NewClientset()
	clients.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review, ok := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		if !ok {
			t.Errorf("created is %T", a)
		}
		reviews++
		if broken {
			return true, nil, errors.New("etcdserver: request timed out")
		}
		review.Status.Allowed = review.Spec.ResourceAttributes.Resource != lacks
		return true, review, nil
	})
	k := New(clients, nil, nil, Account{Namespace: "ns", Name: "crossplane"}, nil)
	all, now := prerequisites.All(), time.Unix(1_000_000, 0)
	step := func(says string, after time.Duration, absent []string, failing, reviewed bool, want ...string) {
		t.Helper()
		now, reviews, broken = now.Add(after), 0, failing
		if err := k.review(t.Context(), all, absent, now); (err != nil) != failing {
			t.Errorf("%s: the error is %v", says, err)
		}
		if (reviews > 0) != reviewed || !slices.Equal(k.forbidden, want) {
			t.Errorf("%s: after %d reviews, forbidden are %q, want %q", says, reviews, k.forbidden, want)
		}
	}
	absent := []string{"ScaledObject.keda.sh"}
	step("at first", 0, absent, false, true)
	step("soon after", often, absent, false, false)
	lacks = "jobs"
	step("another kind exists", often, nil, false, true, "Job.batch")
	step("the API server fails", often, nil, true, true, "Job.batch")
	step("a right is missing", often, nil, false, true, "Job.batch")
	lacks = ""
	step("the right is granted", often, nil, false, true)
	step("nothing is missing", often, nil, false, false)
	step("after a minute", seldom, nil, false, true)
}
