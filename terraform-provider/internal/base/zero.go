package base

import (
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// zero reports whether a value is a number that means the same as none.
func zero(f *crd.Field, v tftypes.Value) bool {
	if f.Type != crd.Integer || !v.IsKnown() || v.IsNull() {
		return false
	}
	var n big.Float
	return v.As(&n) == nil && n.Sign() == 0
}
