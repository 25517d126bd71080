// Command schema writes the provider's schemas to standard output, for
// tfplugindocs.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/schemajson"
)

func main() {
	p := provider.New("dev", func(string) string { return "" })
	raw, err := schemajson.Export(context.Background(), providerserver.NewProtocol6(p)(), "koldun")
	if err == nil {
		_, err = os.Stdout.Write(append(raw, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
