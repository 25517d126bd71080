package v1alpha1

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

var (
	_ resource.ProviderConfig           = (*ProviderConfig)(nil)
	_ resource.ProviderConfig           = (*ClusterProviderConfig)(nil)
	_ resource.TypedProviderConfigUsage = (*ProviderConfigUsage)(nil)
	_ resource.ProviderConfigUsageList  = (*ProviderConfigUsageList)(nil)
)

// GetCondition returns the condition of a type; of unknown status if there is none.
func (p *ProviderConfig) GetCondition(t xpv2.ConditionType) xpv2.Condition {
	return p.Status.GetCondition(t)
}

// SetConditions sets conditions, replacing those of the same types.
func (p *ProviderConfig) SetConditions(c ...xpv2.Condition) { p.Status.SetConditions(c...) }

// GetUsers returns how many managed resources use the connections.
func (p *ProviderConfig) GetUsers() int64 { return p.Status.Users }

// SetUsers sets how many managed resources use the connections.
func (p *ProviderConfig) SetUsers(n int64) { p.Status.Users = n }

// GetCondition returns the condition of a type; of unknown status if there is none.
func (p *ClusterProviderConfig) GetCondition(t xpv2.ConditionType) xpv2.Condition {
	return p.Status.GetCondition(t)
}

// SetConditions sets conditions, replacing those of the same types.
func (p *ClusterProviderConfig) SetConditions(c ...xpv2.Condition) { p.Status.SetConditions(c...) }

// GetUsers returns how many managed resources use the connections.
func (p *ClusterProviderConfig) GetUsers() int64 { return p.Status.Users }

// SetUsers sets how many managed resources use the connections.
func (p *ClusterProviderConfig) SetUsers(n int64) { p.Status.Users = n }

// GetResourceReference returns the managed resource that uses the connections.
func (u *ProviderConfigUsage) GetResourceReference() xpv2.TypedReference { return u.ResourceReference }

// SetResourceReference sets the managed resource that uses the connections.
func (u *ProviderConfigUsage) SetResourceReference(r xpv2.TypedReference) { u.ResourceReference = r }

// GetProviderConfigReference returns which connections are used.
func (u *ProviderConfigUsage) GetProviderConfigReference() xpv2.ProviderConfigReference {
	return u.ProviderConfigReference
}

// SetProviderConfigReference sets which connections are used.
func (u *ProviderConfigUsage) SetProviderConfigReference(r xpv2.ProviderConfigReference) {
	u.ProviderConfigReference = r
}

// GetItems returns the usages.
func (l *ProviderConfigUsageList) GetItems() []resource.ProviderConfigUsage {
	out := make([]resource.ProviderConfigUsage, len(l.Items))
	for i := range l.Items {
		out[i] = &l.Items[i]
	}
	return out
}
