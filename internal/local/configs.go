package local

import "sync"

// configs holds the ProviderConfigs and ClusterProviderConfigs. It is safe for
// concurrent use.
type configs struct {
	mu  sync.Mutex
	all map[Key]Object
}

func newConfigs() *configs { return &configs{all: map[Key]Object{}} }

func (c *configs) get(k Key) (Object, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.all[configKey(k)]
	return o, ok
}

func (c *configs) set(o Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[configKey(o.Key())] = o
}

func (c *configs) remove(k Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, configKey(k))
}

// configKey returns the key without a namespace for a kind that has none: claims
// without a namespace have got the default one.
func configKey(k Key) Key {
	if k.Kind == clusterConfig {
		k.Namespace = ""
	}
	return Key{Kind: k.Kind, Namespace: k.Namespace, Name: k.Name}
}

// Config returns a ProviderConfig, or a ClusterProviderConfig, which has no
// namespace, and whether it exists. A Managed uses it. It is safe for concurrent
// use.
func (l *Local) Config(kind, namespace, name string) (Object, bool) {
	return l.configs.get(Key{Kind: kind, Namespace: namespace, Name: name})
}
