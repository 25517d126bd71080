package history

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// The model that requests ask for by default.
const (
	Namespace = "default"
	ModelName = "tiny"
	ModelID   = Namespace + "/" + ModelName
)

// A Tenant is a caller with an API token. The zero tenant is anonymous.
type Tenant struct {
	Name  string
	Token string
	// mark is a secret word that all its prompts, and so all its answers, contain.
	Mark string
}

// NewTenant returns a tenant with a new token and mark.
func NewTenant(name string) Tenant {
	return Tenant{Name: name, Token: "sk-" + rand.Text(), Mark: name + "-" + strings.ToLower(rand.Text())}
}

// Model returns the id of a model that only this tenant may use.
func (t Tenant) Model() string { return Namespace + "/" + t.ModelName() }

// ModelName returns the name of that model.
func (t Tenant) ModelName() string { return "only-" + t.Name }

// Sign adds the tenant's token to a request.
func (t Tenant) Sign(req *http.Request) {
	if t.Token != "" {
		req.Header.Set("Authorization", "Bearer "+t.Token)
	}
}
