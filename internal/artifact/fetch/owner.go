package fetch

import (
	"context"
	"io"
	"path"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// checkOwner refuses a target that holds a model of another owner, or is around or
// inside of such a folder: its files would be replaced, and its owner would not learn
// of it. Folders whose manifest names no owner, or without one, may be taken over.
func (j *job) checkOwner(ctx context.Context, old manifest.Manifest) error {
	if j.o.Owner == "" {
		return nil
	}
	if err := j.refuse(old, j.to.URL()); err != nil {
		return err
	}
	if nested, ok := j.target.(objectstore.Nested); ok {
		around, err := nested.Around()
		if err != nil {
			return err
		}
		for _, folder := range around {
			m, _, err := manifest.Load(ctx, folder)
			if err != nil {
				continue // no complete model
			}
			if err := j.refuse(m, folder.URL()); err != nil {
				return err
			}
		}
	}
	list, err := j.to.List(ctx, "")
	if err != nil {
		return err
	}
	for _, o := range list {
		if dir, file := path.Split(o.Name); file == names.Manifest && dir != "" {
			m, _, err := manifest.Load(ctx, inside{j.to, dir})
			if err != nil {
				continue
			}
			if err := j.refuse(m, j.to.URL()+"/"+path.Clean(dir)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *job) refuse(m manifest.Manifest, folder string) error {
	if owner := m.Origin.Owner; owner != "" && owner != j.o.Owner {
		return fault.Errorf(fault.Conflict, "%s holds %s of %q: choose another folder, or remove %s from it to hand the files over", folder, m.Origin.Source, owner, names.Manifest)
	}
	return nil
}

// adopt records the owner of a target that is complete.
func (j *job) adopt(ctx context.Context, m manifest.Manifest) (manifest.Manifest, error) {
	if j.o.Owner == "" || m.Origin.Owner == j.o.Owner {
		return m, nil
	}
	m.Origin.Owner = j.o.Owner
	return m, manifest.Save(ctx, j.to, m)
}

// inside reads a folder of a store.
type inside struct {
	objectstore.Store
	dir string // ends with a slash
}

func (i inside) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	return i.Store.Open(ctx, i.dir+name, offset, length)
}
