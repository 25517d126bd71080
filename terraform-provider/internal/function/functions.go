// Package function has the provider's functions. They are pure: they contact
// nothing, and work without any configuration.
package function

import (
	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
)

// Functions are the constructors of all functions. None has a parameter that
// may be null: OpenTofu 1.12 cannot pass a null on.
func Functions(check *preflight.Checker) []func() function.Function {
	return []func() function.Function{
		func() function.Function { return topologyFunction{} },
		func() function.Function { return claimFunction{check: check} },
		func() function.Function { return parseModelRef{} },
		func() function.Function { return conversationHash{} },
	}
}
