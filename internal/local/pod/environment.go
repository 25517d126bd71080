package pod

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// environment returns the variables of the container, overridden by given. Values
// can refer to the variables before them in the list, as in Kubernetes.
func (p *Plan) environment(c Container, given map[string]string) (map[string]string, error) {
	vars := map[string]string{}
	for _, from := range c.EnvFrom {
		data, err := p.source(from)
		if err != nil {
			return nil, err
		}
		for key, value := range data {
			if key != "" && !strings.ContainsAny(key, "=\x00") {
				vars[from.Prefix+key] = string(value)
			}
		}
	}
	listed := maps.Clone(given)
	for _, v := range c.Env {
		if _, ok := given[v.Name]; ok {
			continue
		}
		value, set, err := p.value(c, v, listed)
		if err != nil {
			return nil, err
		}
		if set {
			listed[v.Name] = value
		}
	}
	maps.Copy(vars, listed)
	return vars, nil
}

func (p *Plan) source(from EnvFromSource) (map[string][]byte, error) {
	switch {
	case from.SecretRef != nil:
		return p.find("Secret", from.SecretRef.Name, from.SecretRef.Optional)
	case from.ConfigMapRef != nil:
		return p.find("ConfigMap", from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	}
	return nil, nil
}

// value returns the value of a variable, and false if it must not be set.
func (p *Plan) value(c Container, v EnvVar, before map[string]string) (value string, set bool, err error) {
	if v.ValueFrom == nil {
		return expand(v.Value, before), true, nil
	}
	switch from := v.ValueFrom; {
	case from.SecretKeyRef != nil:
		return p.key("Secret", from.SecretKeyRef)
	case from.ConfigMapKeyRef != nil:
		return p.key("ConfigMap", from.ConfigMapKeyRef)
	case from.ResourceFieldRef != nil:
		return "", false, nil
	case from.FieldRef != nil:
		if value, ok := p.field(from.FieldRef.FieldPath); ok {
			return value, true, nil
		}
		return "", false, fault.Errorf(fault.Unsupported, "container %q: variable %q asks for the field %q, which pods here do not have",
			c.Name, v.Name, from.FieldRef.FieldPath)
	}
	return "", false, fault.Errorf(fault.Unsupported, "container %q: variable %q has an unknown source", c.Name, v.Name)
}

func (p *Plan) field(path string) (string, bool) {
	switch path {
	case "metadata.name":
		return p.Name, true
	case "metadata.namespace":
		return p.Namespace, true
	case "status.podIP", "status.hostIP":
		return loopback, true
	case "spec.nodeName":
		return "localhost", true
	}
	return "", false
}

func (p *Plan) key(kind string, ref *KeyRef) (value string, set bool, err error) {
	data, err := p.find(kind, ref.Name, ref.Optional)
	if err != nil {
		return "", false, err
	}
	raw, ok := data[ref.Key]
	if !ok && !ref.Optional {
		return "", false, fault.Errorf(fault.NotFound, "%s %q has no key %q", kind, ref.Name, ref.Key)
	}
	return string(raw), ok, nil
}

func (p *Plan) find(kind, name string, optional bool) (map[string][]byte, error) {
	data, ok := p.Lookup(kind, name)
	if !ok && !optional {
		return nil, fault.Errorf(fault.NotFound, "there is no %s %q yet", kind, name)
	}
	return data, nil
}

// addVolume plans the folder of a volume and returns its path.
func (p *Plan) addVolume(v Volume) (string, error) {
	if !filepath.IsLocal(v.Name) {
		return "", fault.Errorf(fault.Invalid, "volume %q: not a name", v.Name)
	}
	dir := filepath.Join(p.Dir, "volumes", v.Name)
	var (
		data  map[string][]byte
		items []KeyToPath
		err   error
	)
	switch {
	case v.EmptyDir != nil:
	case v.Secret != nil:
		items = v.Secret.Items
		data, err = p.find("Secret", v.Secret.SecretName, v.Secret.Optional)
	case v.ConfigMap != nil:
		items = v.ConfigMap.Items
		data, err = p.find("ConfigMap", v.ConfigMap.Name, v.ConfigMap.Optional)
	case v.PersistentVolumeClaim != nil && filepath.IsLocal(v.PersistentVolumeClaim.ClaimName):
		dir = filepath.Join(p.ClaimsDir, v.PersistentVolumeClaim.ClaimName)
	default:
		return "", fault.Errorf(fault.Unsupported, "volume %q is of a kind that pods here cannot have", v.Name)
	}
	if err != nil {
		return "", err
	}
	p.Folders = append(p.Folders, dir)
	if len(items) == 0 {
		for _, key := range slices.Sorted(maps.Keys(data)) {
			items = append(items, KeyToPath{Key: key, Path: key})
		}
	}
	for _, item := range items {
		if !filepath.IsLocal(item.Path) {
			return "", fault.Errorf(fault.Invalid, "volume %q: path %q leads out of it", v.Name, item.Path)
		}
		if raw, ok := data[item.Key]; ok {
			p.Files[filepath.Join(dir, item.Path)] = raw
		}
	}
	return dir, nil
}
