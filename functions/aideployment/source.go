package aideployment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

// source finds the PersistentVolumeClaim with the models; empty is none.
func (p *plan) source(models []model) (volume string, next compose.Next, err error) {
	s := p.d.Spec.ModelSource
	switch {
	case s == nil:
	case s.PVC != nil:
		volume = s.PVC.ClaimName
	case s.ModelDownloadRef != nil:
		var m v1.ModelDownload
		found, known := p.Require("download", v1.APIVersion, v1.KindModelDownload, p.d.Namespace, s.ModelDownloadRef.Name, &m)
		if !known || !found {
			p.fail(reason.ModelNotFound, "spec.modelSource.modelDownloadRef: ModelDownload %q does not exist in namespace %q", s.ModelDownloadRef.Name, p.d.Namespace)
			return "", compose.Stop, p.keep(0)
		}
		volume = m.Spec.StoragePVC
		for i, model := range models {
			if problem := unloaded(m, model.URI); problem != "" && !p.served(model.URI) {
				p.fail(reason.ModelPending, "spec.models[%d].uri: ModelDownload %q %s", i, m.Name, problem)
				return "", compose.Stop, p.keep(0)
			}
		}
	}
	return volume, compose.Continue, nil
}

// served reports whether what exists was started with the model: it serves on with the
// files that it has.
func (p *plan) served(uri string) bool {
	return (p.Exists(resDeployment) || p.Exists(resDllama)) &&
		slices.ContainsFunc(p.d.Status.ResolvedModels, func(m v1.AIResolvedModel) bool { return m.URI == uri })
}

// unloaded says that a ModelDownload has not completed the model of a path; empty if it
// has, or if none of its models is there.
func unloaded(d v1.ModelDownload, uri string) string {
	for _, m := range d.Spec.Models {
		folder := cmp.Or(m.SubPath, m.Name)
		if (uri == folder || strings.HasPrefix(uri, folder+"/")) && !slices.Contains(d.Status.Completed, m.Name) {
			return fmt.Sprintf("has not completed model %q yet: see its status", m.Name)
		}
	}
	return ""
}
