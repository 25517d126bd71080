// Package router is the composition function: it hands each composite to the
// package of its kind.
package router

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/aideployment"
	"github.com/gorizond/koldun/functions/aimodelmap"
	"github.com/gorizond/koldun/functions/autonodelabeler"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/dllama"
	"github.com/gorizond/koldun/functions/ingress"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/functions/modeldownload"
	"github.com/gorizond/koldun/functions/modelorchestra"
	"github.com/gorizond/koldun/functions/root"
	"github.com/gorizond/koldun/functions/session"
	"github.com/gorizond/koldun/functions/worker"
)

// ttl is how long Crossplane may use an answer again for the same question.
// What is observed is part of the question, so it can be long.
const ttl = time.Minute

// A kind is one composite kind and the function that composes it.
type kind struct {
	name    string
	compose func(*compose.Call) error
}

// table returns all composite kinds. Each comes after those that it reads the
// status of.
func table() []kind {
	return []kind{
		{v1.KindModel, model.Compose},
		{v1.KindModelDownload, modeldownload.Compose},
		{v1.KindWorker, worker.Compose},
		{v1.KindRoot, root.Compose},
		{v1.KindIngress, ingress.Compose},
		{v1.KindSession, session.Compose},
		{v1.KindDllama, dllama.Compose},
		{v1.KindAIModelMap, aimodelmap.Compose},
		{v1.KindAIDeployment, aideployment.Compose},
		{v1.KindAutoNodeLabeler, autonodelabeler.Compose},
		{v1.KindModelOrchestra, modelorchestra.Compose},
	}
}

// Kinds returns the names of all composite kinds, each after those that it reads
// the status of.
func Kinds() []string {
	var names []string
	for _, k := range table() {
		names = append(names, k.name)
	}
	return names
}

// A Function composes all of Koldun's kinds. It is stateless and safe for
// concurrent use.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	cfg   compose.Config
	kinds map[string]func(*compose.Call) error
}

// New returns a Function with a configuration.
func New(cfg compose.Config) *Function {
	f := &Function{cfg: cfg, kinds: map[string]func(*compose.Call) error{}}
	for _, k := range table() {
		f.kinds[k.name] = k.compose
	}
	return f
}

// RunFunction composes one composite resource. Its error is always nil: what
// goes wrong is a fatal result of the response.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, ttl)
	fields := req.GetObserved().GetComposite().GetResource().GetFields()
	apiVersion, kind := fields["apiVersion"].GetStringValue(), fields["kind"].GetStringValue()
	composeKind, ok := f.kinds[strings.TrimPrefix(kind, "X")]
	if !ok || apiVersion != v1.APIVersion {
		response.Fatal(rsp, fmt.Errorf("cannot compose kind %q of apiVersion %q: known are %s of %s",
			kind, apiVersion, strings.Join(slices.Sorted(maps.Keys(f.kinds)), ", "), v1.APIVersion))
		return rsp, nil
	}
	if err := composeKind(compose.New(f.cfg, req, rsp)); err != nil {
		response.Fatal(rsp, fmt.Errorf("cannot compose %s: %w", kind, err))
	}
	return rsp, nil
}
