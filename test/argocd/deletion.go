package argocd

import (
	"strings"
	"time"
)

// deletes tests that the finalizer of the Application deletes all that it made.
func (s *story) deletes() {
	ctx := s.t.Context()
	app, err := s.Application(ctx, appName)
	s.must(err)
	began := time.Now()
	s.must(s.Client().Delete(ctx, object("argoproj.io/v1alpha1", "Application", Namespace, appName)))
	s.setup.Tell("The Application is deleted.")
	s.gone(object("argoproj.io/v1alpha1", "Application", Namespace, appName))
	s.setup.Tell("It is gone after %s.", since(began))
	for _, r := range app.Status.Resources {
		s.gone(object(strings.TrimPrefix(r.Group+"/"+r.Version, "/"), r.Kind, r.Namespace, r.Name))
	}
	s.onlyThose("only those to be left that were there before the Application", func(id string) bool { return s.before[id] })
	s.setup.Tell("After %s nothing of it is left. The namespace and its Secrets stay.", since(began))
}
