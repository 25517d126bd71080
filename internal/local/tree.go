package local

// find returns the objects that match a requirement, oldest first.
func (t *table) find(namespace string, r Requirement) []Object {
	var found []Object
	for _, key := range t.order {
		if o := t.entries[key].obj; r.Matches(namespace, o) {
			found = append(found, o)
		}
	}
	return found
}

// childReady reports whether a composed resource is ready.
func (t *table) childReady(e *entry, role string) bool {
	if ready, ok := e.composite.ready[role]; ok {
		return ready
	}
	child := t.entries[e.children[role]]
	return child != nil && condition(child.obj, Ready).Status == True
}

// blockedBelow returns the reason why an object in the tree of e can never become
// ready here, or "".
func (t *table) blockedBelow(e *entry) (why string, by Key) {
	if e.blocked != "" {
		return e.blocked, e.key
	}
	for _, role := range sortedKeys(e.children) {
		child := t.entries[e.children[role]]
		if child == nil || child.removing || classOf(e.key) == compositeClass && t.childReady(e, role) {
			continue
		}
		if why, by := t.blockedBelow(child); why != "" {
			return why, by
		}
	}
	return "", Key{}
}

// endpoints returns the open ports in the tree of e.
func (t *table) endpoints(e *entry) []Endpoint {
	var found []Endpoint
	for _, key := range t.order {
		s, ok := t.entries[key].unit.(*service)
		if !ok || !t.below(key, e.key) {
			continue
		}
		for _, p := range s.spec.Ports {
			if open := s.open[p.Port]; open != nil {
				found = append(found, Endpoint{Service: key, Port: p.Port, Address: open.Address()})
			}
		}
	}
	return found
}

// below reports whether an object is in the tree of another.
func (t *table) below(key, root Key) bool {
	for e := t.entries[key]; e != nil; e = t.entries[e.owner] {
		if e.key == root {
			return true
		}
	}
	return false
}
