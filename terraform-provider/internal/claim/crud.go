package claim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/wait"
)

// deletion is how long Delete waits until the object is gone.
const deletion = 10 * time.Minute

// lastLook is how long Delete may look at an object whose deletion took all its time.
const lastLook = 10 * time.Second

// Create applies the object and waits until it is ready. It refuses an object
// that exists, unless the provider adopts it.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	limit := tfresource.Timeout(ctx, req.Plan, timeouts.Value.Create, r.kind.Ready, &resp.Diagnostics)
	w, ok := r.begin(req.Plan.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	policy := wait.Read(w.object[attrWait])
	_, err := w.getOnceKnown(ctx, policy.API)
	if err == nil && !r.Adopts(&resp.Diagnostics, path.Root(attrName), w.key.String()) {
		return
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		r.fail(&resp.Diagnostics, "look up", w, err)
		return
	}
	generation, ok := r.apply(ctx, w, &resp.Diagnostics)
	if !ok {
		return
	}
	// The object exists now: it must be in the state even if the wait fails.
	if resp.State.Raw, err = w.state(nil, wait.State{}); err != nil {
		r.fail(&resp.Diagnostics, "read", w, err)
		return
	}
	r.names().Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	if raw, ok := r.untilReady(ctx, w, policy, limit, generation, &resp.Diagnostics); ok {
		resp.State.Raw = raw
	}
}

// Update applies the object and waits until it is ready.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	limit := tfresource.Timeout(ctx, req.Plan, timeouts.Value.Update, r.kind.Ready, &resp.Diagnostics)
	w, ok := r.begin(req.Plan.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	w.planned = w.object[attrStatus]
	r.names().Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	if err := w.kube.TakeOver(ctx, w.of, w.key); err != nil && !fault.Is(err, fault.NotFound) {
		r.fail(&resp.Diagnostics, "update", w, err)
		return
	}
	generation, ok := r.apply(ctx, w, &resp.Diagnostics)
	if !ok {
		return
	}
	if raw, ok := r.untilReady(ctx, w, wait.Read(w.object[attrWait]), limit, generation, &resp.Diagnostics); ok {
		resp.State.Raw = raw
	}
}

// Delete deletes the object in the foreground and waits until it is gone. Its
// dependents are deleted first.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	limit := tfresource.Timeout(ctx, req.State, timeouts.Value.Delete, deletion, &resp.Diagnostics)
	w, ok := r.begin(req.State.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := w.kube.Delete(ctx, w.of, w.key); err != nil {
		r.fail(&resp.Diagnostics, "delete", w, err)
		return
	}
	look := func(ctx context.Context) (wait.State, error) {
		obj, err := w.kube.Get(ctx, w.of, w.key)
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Unsupported) {
			return wait.State{Ready: true}, nil
		}
		if err != nil {
			return wait.State{}, err
		}
		return wait.State{Reason: "Deleting", Message: fmt.Sprintf("it has the finalizers %v", obj.GetFinalizers())}, nil
	}
	s, err := wait.Poll(ctx, look, false)
	if err == nil && s == (wait.State{}) {
		last, done := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
		defer done()
		s, err = look(last)
	}
	switch {
	case err != nil:
		r.fail(&resp.Diagnostics, "delete", w, err)
	case s.Ready:
	case errors.Is(ctx.Err(), context.Canceled):
		r.fail(&resp.Diagnostics, "delete", w, fmt.Errorf("the wait was interrupted; it is going: %s", s.Message))
	default:
		r.fail(&resp.Diagnostics, "delete", w, fmt.Errorf("it is still there after %s: %s", limit, s.Message))
	}
}

// apply writes the object, and returns its new generation.
func (r *Resource) apply(ctx context.Context, w *work, d *diag.Diagnostics) (int64, bool) {
	obj, err := w.manifest()
	if err != nil {
		r.fail(d, "read", w, err)
		return 0, false
	}
	uninterrupted, release := tfresource.Uninterrupted(ctx)
	defer release()
	got, err := w.kube.Apply(uninterrupted, w.of, obj, w.object.True(attrForce))
	if err != nil {
		r.fail(d, "apply", w, err)
		return 0, false
	}
	return got.GetGeneration(), true
}

// untilReady waits until the object is ready in the given generation, and returns
// its state.
func (r *Resource) untilReady(ctx context.Context, w *work, p wait.Policy, limit time.Duration, generation int64, d *diag.Diagnostics) (tftypes.Value, bool) {
	var last observation
	s, err := wait.UntilReady(ctx, p, fmt.Sprintf("%s %q", r.Type(), w.key), limit, d, func(ctx context.Context) (wait.State, error) {
		obj, err := w.kube.Get(ctx, w.of, w.key)
		if err != nil {
			return wait.State{}, err
		}
		last = observe(obj, generation)
		return last.State, nil
	})
	if err != nil {
		r.fail(d, "look up", w, err)
		return tftypes.Value{}, false
	}
	raw, err := w.state(last.status, s)
	if err != nil {
		r.fail(d, "read", w, err)
		return tftypes.Value{}, false
	}
	return raw, true
}
