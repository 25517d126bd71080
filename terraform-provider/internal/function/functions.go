// Package function holds the functions of the provider. They are pure: they open
// no connection and need no configuration.
package function

import (
	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
)

// Functions returns the constructors of all functions. None has a nullable
// parameter, because OpenTofu 1.12 does not pass null on.
func Functions(check *preflight.Checker) []func() function.Function {
	return []func() function.Function{
		func() function.Function { return topologyFunction{} },
		func() function.Function { return claimFunction{check: check} },
		func() function.Function { return parseModelRef{} },
		func() function.Function { return conversationHash{} },
	}
}
