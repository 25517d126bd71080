package ingress

import (
	"fmt"
	"net"
)

// serviceURL is the base URL of the API inside of the cluster.
func serviceURL(name, namespace string, port int32) string {
	host := net.JoinHostPort(name+"."+namespace+".svc.cluster.local", fmt.Sprint(port))
	return "http://" + host + "/v1"
}
