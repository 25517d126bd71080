package ephemeral

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/terraform-provider/internal/clients"
)

// A configured resource has the provider's connections.
type configured struct{ connections *clients.Connections }

// Configure takes the provider's connections.
func (c *configured) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	if connections, ok := req.ProviderData.(*clients.Connections); ok {
		c.connections = connections
	}
}

// open returns the connection to NATS, or nil after an error.
func (c *configured) open(ctx context.Context, d *diag.Diagnostics) *bus.Bus {
	if d.HasError() {
		return nil
	}
	if c.connections == nil {
		d.AddError("The provider is not configured", "This is a defect of the provider: please report it.")
		return nil
	}
	b, err := c.connections.Bus(ctx)
	if err != nil {
		d.AddError("Cannot connect", err.Error())
		return nil
	}
	return b
}
