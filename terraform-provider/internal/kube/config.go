// Package kube reads and writes objects of our own kinds in a cluster. It asks
// the cluster for no list of kinds: group, version and resource are known.
package kube

import (
	"fmt"

	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/gorizond/koldun/internal/fault"
)

// FieldManager owns the fields that the provider applies.
const FieldManager = "terraform-provider-koldun"

// Config says how to reach a cluster: by a kubeconfig file, or by Host.
type Config struct {
	Path      string // of a kubeconfig file
	Context   string // of the file; "" is its current one
	Host      string // https://host:port
	Token     string
	CAPEM     string
	CertPEM   string
	KeyPEM    string
	Namespace string // of objects that name none; "" is "default"
}

// Configured reports whether the Config says anything.
func (c Config) Configured() bool { return c.Path != "" || c.Host != "" }

// A Client talks to one cluster. It is safe for concurrent use.
type Client struct {
	dynamic dynamic.Interface
	config  *rest.Config
}

// New makes a Client. It asks no server. Errors: Invalid.
func New(c Config) (*Client, error) {
	cfg, err := c.rest()
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot configure Kubernetes: %w; KUBECONFIG, or kubernetes.config_path in the provider block, is to name a kubeconfig file", err)
	}
	// Terraform works on ten resources at once, and waits poll.
	cfg.QPS, cfg.Burst = 50, 100
	cfg.UserAgent = FieldManager
	d, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot configure Kubernetes: %w", err)
	}
	return &Client{dynamic: d, config: cfg}, nil
}

// Nodes are the nodes of the cluster. Errors: Invalid.
func (c *Client) Nodes() (typedcorev1.NodeInterface, error) {
	core, err := typedcorev1.NewForConfig(c.config)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot configure Kubernetes: %w", err)
	}
	return core.Nodes(), nil
}

func (c Config) rest() (*rest.Config, error) {
	if c.Path == "" {
		return &rest.Config{Host: c.Host, BearerToken: c.Token, TLSClientConfig: rest.TLSClientConfig{
			CAData: []byte(c.CAPEM), CertData: []byte(c.CertPEM), KeyData: []byte(c.KeyPEM),
		}}, nil
	}
	if c.Host != "" {
		return nil, fmt.Errorf("give either a kubeconfig file or a host, not both")
	}
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: clientcmd.NewDefaultClientConfigLoadingRules().Precedence}
	rules.ExplicitPath = c.Path
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: c.Context, Context: clientcmdapi.Context{}}).ClientConfig()
}
