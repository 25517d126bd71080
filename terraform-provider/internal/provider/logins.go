package provider

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gorizond/koldun/terraform-provider/internal/clients"
)

// logins are the ways to log in to NATS, each with its settings. A connection has
// at most one.
func logins() [][]string {
	return [][]string{{"user", "password"}, {"token"}, {"nkey_seed"}, {"creds", "creds_file"}}
}

// otherLogins returns the settings of the logins that a block does not use: they do
// not fall back to the environment, where another tool may have put a login of its
// own. The user of a block may have its password in the environment, and the access key
// its secret key, but no session token: that belongs to the keys beside it. A block with
// two logins is an error.
func otherLogins(system clients.System, block types.Object, d *diag.Diagnostics) map[string]bool {
	if system == clients.S3 {
		return map[string]bool{"session_token": given(block, "access_key") || given(block, "secret_key")}
	}
	if system != clients.NATS {
		return nil
	}
	var used, unused []string
	for _, login := range logins() {
		i := slices.IndexFunc(login, func(name string) bool { return given(block, name) })
		if i < 0 {
			unused = append(unused, login...)
		} else {
			used = append(used, login[i])
		}
	}
	if len(used) == 0 {
		return nil
	}
	if len(used) > 1 {
		d.AddAttributeError(path.Root(string(system)).AtName(used[1]), "Two logins",
			fmt.Sprintf("The block %s has %s and %s. A connection has one login: remove the other.", system, used[0], used[1]))
	}
	out := map[string]bool{}
	for _, name := range unused {
		out[name] = true
	}
	return out
}

// given reports whether a block has an attribute, with a value that is known or not.
func given(block types.Object, name string) bool {
	v, _ := block.Attributes()[name].(types.String)
	return v.IsUnknown() || !v.IsNull()
}
