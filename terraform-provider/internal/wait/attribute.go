package wait

import (
	"regexp"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// A Policy is the value of the attribute "wait".
type Policy struct {
	None bool          // do not wait
	Fail bool          // a timeout is an error, which taints a new resource
	API  time.Duration // how long the cluster may not know the kind
}

// Attribute returns the schema of the attribute "wait".
func Attribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional:    true,
		Description: "How to wait until the resource is ready.",
		Attributes: map[string]schema.Attribute{
			// Not "for": HCL would read { for = "ready" } as an expression.
			"until": schema.StringAttribute{
				Optional: true, Validators: []validator.String{stringvalidator.OneOf("ready", "none")},
				Description: "What to wait for: `ready`, or `none` to continue at once. Left out, it is `ready`.",
			},
			"on_timeout": schema.StringAttribute{
				Optional: true, Validators: []validator.String{stringvalidator.OneOf("warn", "error")},
				Description: "Result of a timeout. `warn`: a warning; the resource has `ready = false`, and the next apply continues to wait. " +
					"`error`: a failure; Terraform taints a new resource and replaces it. Left out, it is `warn`.",
			},
		},
	}
}

// ClusterAttribute returns the schema of the attribute for objects in a cluster.
func ClusterAttribute() schema.Attribute {
	a, _ := Attribute().(schema.SingleNestedAttribute)
	a.Attributes["for_api"] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{stringvalidator.RegexMatches(regexp.MustCompile(`^([0-9]+(h|m|s))+$`), "write a duration such as 5m")},
		Description: "How long to wait for the kind, for instance because the same apply installs Koldun's packages: `5m`. Left out, the cluster must know the kind.",
	}
	return a
}

// Read returns the policy of a value of the attribute.
func Read(v tftypes.Value) Policy {
	var p Policy
	if !v.IsKnown() || v.IsNull() {
		return p
	}
	var m map[string]tftypes.Value
	if v.As(&m) != nil {
		return p
	}
	p.None = text(m["until"]) == "none"
	p.Fail = text(m["on_timeout"]) == "error"
	p.API, _ = time.ParseDuration(text(m["for_api"]))
	return p
}

func text(v tftypes.Value) string {
	var s string
	if !v.IsKnown() || v.IsNull() || v.As(&s) != nil {
		return ""
	}
	return s
}
